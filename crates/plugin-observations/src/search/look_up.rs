//! The order of the hits for a single word, a path or a name. All hits contain it, so the match says little: short
//! texts, such as those of reads, match best. The kind of a record counts more.

use model::{OpError, limits};
use store::Rx;

use super::{Named, Ranked, turns};
use crate::records_read::RecordsRead;

/// The factor of a read, on top of the weight that its kind has in the answer to a question.
const READS: f64 = 0.5;

/// The highest weight of a record that only asks, even if all hits are talk.
const ASKS: f64 = 0.3;

/// Puts the first hits in order by what their records tell: commits, answers and errors before reads. If the query
/// names a path, only the reads move, behind the others.
pub(super) fn in_order(
    rx: &Rx<'_>,
    mut ranked: Vec<Ranked>,
    names_path: bool,
    records: &mut RecordsRead,
) -> Result<Vec<Ranked>, OpError> {
    let behind = ranked.split_off(limits::SEARCH_READ.min(ranked.len()));
    let work = turns::share_of_work(&ranked);
    let mut weighed: Vec<(Named, bool, f64, Ranked)> = Vec::with_capacity(ranked.len());
    for one in ranked {
        let record = records.read_hit(rx, one.hit)?;
        let reads = record.is_some_and(turns::only_reads);
        let asks = record.is_some_and(turns::only_asks);
        let tells = record.map_or(1.0, |record| turns::telling(record, 1.0));
        let tells = (if reads { READS * tells } else { tells }).powf(work);
        let tells = if asks { tells.min(ASKS) } else { tells };
        let score = if names_path { 0.0 } else { one.own.sqrt() * tells };
        weighed.push((one.named, names_path && reads, score, one));
    }
    weighed.sort_by(|a, b| {
        let newer = (b.3.seconds(), b.3.hit.id).cmp(&(a.3.seconds(), a.3.hit.id));
        b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then(b.2.total_cmp(&a.2)).then(newer)
    });
    // Scores fall from one hit to the next.
    let most = weighed.iter().map(|(_, _, score, _)| *score).fold(0.0, f64::max);
    let mut least = 1.0_f64;
    let first = weighed.into_iter().map(|(named, _, score, one)| {
        let is_weighed = named == Named::No && most > 0.0;
        least = least.min(if is_weighed { score / most } else { one.first });
        Ranked { first: least, ..one }
    });
    let mut all: Vec<Ranked> = first.collect();
    let least = all.last().map_or(1.0, |one| one.first);
    all.extend(behind.into_iter().map(|one| Ranked { first: one.first.min(least), ..one }));
    Ok(all)
}
