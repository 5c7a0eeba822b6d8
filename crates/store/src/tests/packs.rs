//! Packed postings: a query has the same answer before, during and after packing.

use std::time::{Duration, Instant};

use model::OpError;

use super::desk::{Desk, do_it};
use crate::search::{self, Filter, Order};
use crate::{Rx, Tx, passages};

/// Far more than it takes.
const DEADLINE: Duration = Duration::from_secs(60);
/// A word of a single record, whose postings are in the first pack.
const RARE: &str = "xylophonewords";

/// Writes enough records for several packs; none of them is packed yet.
fn fill(desk: &Desk) -> impl FnMut(&Tx<'_>) -> Result<(), OpError> + Send + 'static {
    let deed = desk.deed_command("", 0);
    move |tx| {
        for i in 0..2_000_i64 {
            let words: Vec<String> =
                (0..20).map(|j| format!("w{}", (i * 7 + j * j) % 600)).collect();
            let rare = if i == 70 { RARE } else { "認証" };
            let mut deed = deed.clone();
            (deed.content, deed.after) = (format!("common {} n{i} {rare}", words.join(" ")), i);
            do_it(tx, &deed)?;
        }
        while passages::catch_up(tx)? {}
        Ok(())
    }
}

/// The hits of queries of all shapes, with the exact bits of their scores.
fn answers(rx: &Rx<'_>) -> Result<Vec<(i64, u64)>, OpError> {
    let shapes = [
        "w5 w17",
        "common n7 n900",
        "認",
        "認証 w3",
        "n19*",
        "w12 OR n3*",
        "w281 AND n40",
        "\"n71 認証\"",
        "common NOT w5",
        RARE,
    ];
    let mut found = Vec::new();
    for shape in shapes {
        for order in [Order::Best, Order::Newest] {
            let query = text::query::rewrite(shape);
            let hits = search::hits(rx, &query, &Filter::default(), order, 50)?;
            assert!(!hits.hits.is_empty(), "{shape}");
            found.extend(hits.hits.iter().map(|hit| (hit.id, hit.score.to_bits())));
        }
    }
    Ok(found)
}

fn rows(rx: &Rx<'_>, table: &str) -> Result<u64, OpError> {
    let count = format!("SELECT count(*) FROM {table}");
    rx.sql(|db| db.query_row(&count, [], |row| row.get(0)))
}

/// @search_packs
#[test]
fn queries_have_the_same_answer_before_during_and_after_packing() {
    let desk = Desk::new();
    let mut fill = fill(&desk);
    let (steps, loose, packed) = desk.write(move |tx| {
        fill(tx)?;
        let before = answers(tx)?;
        let loose = rows(tx, "postings")?;
        let mut steps = 0;
        while passages::is_loose(tx)? {
            passages::go_on(tx)?;
            steps += 1;
            assert!(answers(tx)? == before, "after {steps} steps");
        }
        Ok((steps, loose, rows(tx, "postings")? + rows(tx, "packed_postings")?))
    });
    assert!(steps > 2, "a pack is made in several steps");
    assert!(packed * 3 < loose * 2, "{packed} rows instead of {loose}");
}

/// @search_packs
#[test]
fn full_blocks_of_an_older_store_are_packed_in_the_background() {
    let mut desk = Desk::new();
    let mut fill = fill(&desk);
    // The writer leaves full blocks unpacked, like a build without packs.
    desk.write(move |tx| {
        fill(tx)?;
        tx.defer(|index: &mut crate::index_state::IndexState| index.is_loose = Some(false));
        Ok(())
    });
    desk.opening.store.close();
    desk.opening = desk.home.open();
    let until = Instant::now() + DEADLINE;
    while desk.opening.store.read(passages::is_loose).unwrap() {
        assert!(Instant::now() < until, "nobody packs what is full");
    }
    assert!(desk.read(|rx| rows(rx, "packed_postings")) > 0);
}

/// @search_packs
#[test]
fn packing_on_request_packs_all_full_blocks() {
    let desk = Desk::new();
    desk.write(fill(&desk));
    desk.opening.store.pack().unwrap();
    assert!(!desk.opening.store.read(passages::is_loose).unwrap());
    assert!(desk.read(|rx| rows(rx, "packed_postings")) > 0);
}

/// @search_packs @purge_leaves_no_trace
#[test]
fn words_of_a_record_removed_from_a_pack_are_not_in_the_file() {
    let desk = Desk::new();
    let holds = |what: &str| {
        let file = std::fs::read(desk.home.db()).unwrap();
        file.windows(what.len()).any(|bytes| bytes == what.as_bytes())
    };
    let mut fill = fill(&desk);
    let stem = "xylophoneword";
    desk.write(move |tx| {
        fill(tx)?;
        while passages::is_loose(tx)? {
            passages::go_on(tx)?;
        }
        // Only the index has the word from now on.
        tx.sql(|db| {
            db.execute("UPDATE observations SET content = replace(content, 'xylo', '')", [])
        })
    });
    desk.opening.store.compact().unwrap();
    assert!(holds(stem), "the index keeps words");
    let found = |typed: &str| -> Vec<i64> {
        let query = text::query::rewrite(typed);
        let hits = desk.read(|rx| search::hits(rx, &query, &Filter::default(), Order::Best, 2));
        hits.hits.iter().map(|hit| hit.id).collect()
    };
    let (id, others) = (found(RARE)[0], found("n69 n71"));
    desk.write(move |tx| passages::remove(tx, id).and_then(|()| passages::optimize(tx)));
    assert_eq!(found("n69 n71"), others, "the others are found as before");
    desk.opening.store.close();
    assert!(!holds(stem));
}
