//! The directories and files that limpid keeps for itself: its user's alone, and never through a
//! link, which could lead what is kept to where others read it.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// How such a file is opened; what for, the caller adds.
pub fn own_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    options
}

/// Opens a file for reading that should be limpid's own: nothing else than a file, for a pipe or a
/// device may never end.
///
/// # Errors
/// What the file system says, or that it is none.
pub(super) fn open_own(path: &Path) -> io::Result<File> {
    open_file(OpenOptions::new().read(true), path)
}

/// The same for reading it and writing on at its end.
///
/// # Errors
/// What the file system says, or that it is none.
pub(super) fn open_own_to_append(path: &Path) -> io::Result<File> {
    open_file(OpenOptions::new().read(true).append(true), path)
}

fn open_file(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = options.custom_flags(flags.bits().cast_signed()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is no file")) }
}

/// Writes a text into a new file `STEM-PID-N.ENDING` of the folder, which is made if need be.
///
/// # Errors
/// What the file system says, or why the folder is not used.
pub fn own_new_file(folder: &Path, stem: &str, ending: &str, text: &str) -> io::Result<PathBuf> {
    own_directory(folder)?;
    for number in 1..1000 {
        let path = folder.join(format!("{stem}-{}-{number}.{ending}", std::process::id()));
        match own_file().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(mut file) => {
                file.write_all(text.as_bytes())?;
                return Ok(path);
            }
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Makes the directory if it is not there, and closes it to others if they could look in.
///
/// # Errors
/// What the file system says, or why this directory is not used.
pub fn own_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let found = std::fs::symlink_metadata(path)?;
    let refused = |what: &str| {
        let place = path.display();
        io::Error::other(format!("{place} {what}; nothing is written there. Move it away"))
    };
    if found.file_type().is_symlink() {
        return Err(refused("is a link"));
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(refused("belongs to another user"));
    }
    if found.permissions().mode() & 0o077 != 0 {
        std::fs::set_permissions(path, Permissions::from_mode(0o700))?;
    }
    Ok(())
}
