//! Work over all passages, in parts, on more threads the more passages there are.

use std::ops::Range;
use std::sync::LazyLock;
use std::thread;

/// How many threads at most.
pub(crate) const THREADS_MAX: usize = 4;
/// How many passages there must be for each thread. With fewer, waiting for a busy core takes longer than the work.
const PASSAGES_PER_THREAD: usize = 256 * 1_024;

pub(crate) fn cores() -> usize {
    static CORES: LazyLock<usize> =
        LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));
    *CORES
}

/// Runs `work` on parts of all passages, in parallel. Each part begins at the start of a block of this size.
pub(crate) fn in_parts<T: Send>(
    end: usize,
    block: usize,
    work: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let parts = (end / PASSAGES_PER_THREAD).clamp(1, THREADS_MAX.min(cores()));
    // Each part has whole blocks, so that the results do not depend on the number of parts.
    let each = end.div_ceil(parts).next_multiple_of(block);
    let mut ranges = (0..end).step_by(each).map(|from| from..(from + each).min(end));
    let first = ranges.next().unwrap_or(0..0);
    thread::scope(|scope| {
        let work = &work;
        let others: Vec<_> = ranges
            .map(|range| {
                let begun = thread::Builder::new().spawn_scoped(scope, {
                    let range = range.clone();
                    move || work(range)
                });
                (begun, range)
            })
            .collect();
        let mut done = vec![work(first)];
        for (begun, range) in others {
            // If the thread could not be spawned or panicked, this thread does its part.
            let other = begun.ok().and_then(|thread| thread.join().ok());
            done.push(other.unwrap_or_else(|| work(range)));
        }
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: usize = 256;

    #[test]
    fn every_passage_of_a_large_store_is_looked_at_once_and_in_order() {
        for end in [1, BLOCK, PASSAGES_PER_THREAD * 2 + 1, PASSAGES_PER_THREAD * 9 + 7] {
            let seen: Vec<usize> = in_parts(end, BLOCK, Iterator::collect::<Vec<_>>).concat();
            assert!(seen.into_iter().eq(0..end), "{end}");
        }
    }
}
