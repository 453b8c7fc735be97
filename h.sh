ns () 
{ 
    env HOME=/tmp/newc/home LANG=C.UTF-8 tmux -L newc -f /dev/null new-session -d -s $1 -x ${2:-100} -y ${3:-30} -c ${4:-/tmp/newc/a} 'exec bash -i'
}
