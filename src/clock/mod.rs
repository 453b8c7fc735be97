//! Time that counts: limits on how long something may take do not run out while limpid itself was
//! stopped (Ctrl-Z, SIGSTOP) or the machine asleep.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use tokio::time::Instant;

/// The longest stretch that is waited for at once. A stop counts as one stretch at most.
const STRETCH: Duration = Duration::from_secs(1);

/// Waits until limpid has been awake for this long.
pub async fn awake(time: Duration) {
    let mut left = time;
    while !left.is_zero() {
        let stretch = left.min(STRETCH);
        let began = Instant::now();
        tokio::time::sleep(stretch).await;
        // A little late is a busy machine; much later is somebody who stopped it.
        left = left.saturating_sub(began.elapsed().min(stretch * 2));
    }
}

/// What a future comes to within this time awake; `None` if it does not.
pub async fn within<F: Future>(time: Duration, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    tokio::select! {
        biased;
        output = &mut future => Some(output),
        () = awake(time) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_limit_runs_out_and_what_is_in_time_counts() {
        let began = Instant::now();
        assert_eq!(within(Duration::from_millis(50), std::future::pending::<()>()).await, None);
        assert!(began.elapsed() >= Duration::from_millis(50));
        assert_eq!(within(Duration::ZERO, async { 7 }).await, Some(7));
    }

    /// The thread that runs the timers stands still, as all of a stopped process does.
    #[tokio::test]
    async fn time_in_which_nothing_could_run_does_not_count() {
        let stop = async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            std::thread::sleep(Duration::from_millis(3500));
            std::future::pending::<()>().await;
        };
        let began = Instant::now();
        assert_eq!(within(Duration::from_millis(2500), stop).await, None);
        assert!(began.elapsed() >= Duration::from_secs(4), "{:?}", began.elapsed());
    }
}
