//! The table, its tokeniser and the arithmetic against known answers and against bad input.

use crate::cpu::CpuLoop;
use crate::layout::TableLayout;
use crate::table::DIMENSIONS;
use crate::tokens::{PIECES_MAX, Pieces};
use crate::vector::{rounded, sum_of};
use crate::{Vector, cosine, scan};

const FILE: &[u8] = include_bytes!("../table/table-128.rke");

/// Texts, their number of pieces, and the first numbers of their unit vectors.
const VECTORS: [(&str, usize, [f32; 8]); 20] = [
    (
        "the daemon holds the only write lock on the database",
        10,
        [0.0097, -0.1286, 0.0580, -0.0190, 0.0010, 0.0168, 0.1552, 0.0840],
    ),
    (
        "How do I build the router image?",
        9,
        [0.0471, -0.1677, 0.1607, 0.0269, -0.0131, -0.0946, 0.1745, 0.1144],
    ),
    (
        "docker compose build router",
        6,
        [0.0567, -0.1282, 0.0810, 0.1041, 0.0082, 0.0407, 0.0850, 0.1581],
    ),
    (
        "The cat sat on the mat",
        6,
        [0.1247, -0.0693, 0.0819, 0.0000, -0.1897, 0.0373, 0.2094, 0.0574],
    ),
    (
        "fix: panic when the config file is empty",
        11,
        [0.0143, -0.1595, 0.1361, -0.0299, -0.0361, -0.0965, 0.1354, 0.0404],
    ),
    (
        "getUserName() returns null after logout",
        10,
        [-0.0271, -0.0823, 0.1539, -0.1464, 0.0834, 0.0555, 0.0980, 0.0875],
    ),
    (
        "SELECT rowid, bm25(t) FROM t WHERE t MATCH ?",
        16,
        [0.0449, -0.0831, 0.2072, 0.0152, -0.0438, 0.0311, 0.0213, 0.0191],
    ),
    (
        "we decided to use SQLite instead of Postgres",
        11,
        [0.0485, -0.1417, 0.2225, -0.0126, 0.1131, 0.0330, 0.0276, -0.0115],
    ),
    (
        "Why did we choose SQLite over Postgres?",
        11,
        [0.1583, -0.2108, 0.2466, -0.1086, 0.0856, -0.0158, -0.0157, -0.0362],
    ),
    (
        "cargo test --workspace",
        6,
        [0.1338, -0.1413, 0.0919, 0.0554, 0.0202, -0.0085, 0.0598, 0.1169],
    ),
    (
        "tests are flaky on Windows",
        7,
        [-0.0469, -0.1451, 0.1688, -0.0474, 0.0578, -0.1952, 0.0992, 0.0058],
    ),
    ("Café naïve über", 3, [0.3201, 0.0682, 0.0959, 0.0497, 0.1001, -0.2220, 0.0105, -0.0566]),
    ("日本語 test", 4, [-0.0872, 0.0379, 0.0835, 0.0859, 0.0980, 0.2500, 0.2256, -0.0808]),
    (
        "snake_case_identifier",
        7,
        [-0.0273, -0.1146, -0.0465, -0.0551, -0.0710, 0.0115, 0.1413, -0.0795],
    ),
    ("v1.2.3-rc.4", 10, [0.0413, -0.1697, 0.0965, -0.0656, 0.0417, 0.0524, 0.1281, 0.1452]),
    (
        "it's 3 a.m.; don't deploy!",
        14,
        [0.1254, -0.1669, 0.1349, 0.0384, 0.1201, -0.0822, 0.1623, 0.0357],
    ),
    (
        "error: connection refused (os error 111)",
        9,
        [0.1091, -0.1523, 0.3065, -0.0082, 0.0574, 0.1128, -0.0112, -0.0864],
    ),
    (
        "Let's move the meeting to Tuesday afternoon.",
        10,
        [0.2637, -0.0417, 0.2159, 0.0342, -0.0089, -0.1333, 0.0712, 0.0532],
    ),
    ("memory", 1, [0.0492, -0.1476, 0.0455, 0.0182, 0.0802, 0.0273, 0.1148, -0.0036]),
    (
        "  tabs\tand\nnewlines  ",
        5,
        [0.0020, -0.1580, -0.0093, 0.0549, -0.1692, -0.0128, 0.0933, 0.2071],
    ),
];

const COSINES: [(&str, &str, f32); 10] = [
    ("How do I build the router image?", "docker compose build router", 0.5958),
    ("How do I build the router image?", "The cat sat on the mat", 0.2696),
    (
        "Why did we choose SQLite over Postgres?",
        "we decided to use SQLite instead of Postgres",
        0.8338,
    ),
    ("Why did we choose SQLite over Postgres?", "tests are flaky on Windows", 0.1600),
    (
        "fix: panic when the config file is empty",
        "the program crashes if there is no configuration",
        0.4912,
    ),
    (
        "error: connection refused (os error 111)",
        "the server is not listening on that port",
        0.4109,
    ),
    ("getUserName() returns null after logout", "user name is missing when signed out", 0.5272),
    ("Let's move the meeting to Tuesday afternoon.", "reschedule the call", 0.3299),
    ("cargo test --workspace", "run every unit test", 0.4532),
    ("memory", "memory", 1.0000),
];

/// The pieces of a text as spelled in the table.
fn pieces(text: &str) -> Vec<&'static str> {
    let lines = TableLayout::read(FILE).unwrap().lines(FILE).unwrap();
    Pieces::of(text).rows().iter().map(|row| lines[usize::from(*row)].1).collect()
}

/// The unit vector of a text before it is rounded for storage.
fn unit(text: &str) -> [f32; DIMENSIONS] {
    let sum = sum_of(text);
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    sum.map(|value| value / length)
}

/// Pseudo-random numbers with a fixed seed.
struct VectorRandom(u64);

impl VectorRandom {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn cells(&mut self) -> [i8; DIMENSIONS] {
        std::array::from_fn(|_| self.next().to_le_bytes()[3].cast_signed())
    }
}

/// @meaning_vectors
#[test]
fn texts_have_the_vectors_that_the_table_was_published_with() {
    for (text, count, expected) in VECTORS {
        assert_eq!(Pieces::of(text).rows().len(), count, "{text:?}: {:?}", pieces(text));
        for (value, expected) in unit(text).into_iter().zip(expected) {
            assert!((value - expected).abs() <= 0.0005, "{text:?}: {value} is not {expected}");
        }
    }
    for (a, b, expected) in COSINES {
        let exact: f32 = unit(a).into_iter().zip(unit(b)).map(|(a, b)| a * b).sum();
        assert!((exact - expected).abs() <= 0.001, "{a:?}, {b:?}: {exact} is not {expected}");
        // Rounding to a byte is the only error.
        let stored = cosine(&Vector::of(a).unwrap(), &Vector::of(b).unwrap());
        assert!((stored - expected).abs() <= 0.002, "{a:?}, {b:?}: {stored} is not {expected}");
    }
}

/// @meaning_vectors
#[test]
fn words_are_split_into_the_longest_known_pieces() {
    let expected = [
        (
            "getUserName() returns null after logout",
            "get ##user ##name ( ) returns null after logo ##ut",
        ),
        ("snake_case_identifier", "snake _ case _ id ##ent ##ifier"),
        ("v1.2.3-rc.4", "v ##1 . 2 . 3 - rc . 4"),
        ("Café naïve über", "cafe naive uber"),
        ("日本語 test", "日 本 語 test"),
    ];
    for (text, expected) in expected {
        assert_eq!(pieces(text).join(" "), expected, "{text:?}");
    }
}

#[test]
fn accents_case_and_spaces_are_normalised() {
    let alike = [
        ("memory", "  MEMORY\r\n"),
        ("memory", "mem\0o\u{fffd}r\u{200b}y"),
        ("cafe", "cafe\u{301}"),
        ("cafe", "CAFÉ"),
        ("a b", "a\u{a0}b"),
        ("a b", "a\u{2028}b"),
        ("ab", "a\u{b}b"),
        ("日 本", "日本"),
        ("한국어", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}\u{110b}\u{1165}"),
        ("οδος σ", "ΟΔΌΣ Σ"),
        ("İ", "i"),
        ("a ; b", "a\u{37e}b"),
        ("ak ω", "\u{212b}\u{212a} \u{2126}"),
    ];
    for (a, b) in alike {
        assert_eq!(pieces(a), pieces(b), "{a:?}, {b:?}");
    }
}

/// @meaning_hostile_text
#[test]
fn a_text_without_words_has_no_vector() {
    for text in
        ["", " \t\r\n ", "\0", "\u{fffd}", "\u{1}\u{7f}\u{85}", "\u{301}\u{308}", "\u{200b}"]
    {
        assert_eq!(Vector::of(text), None, "{text:?}");
    }
}

/// @meaning_hostile_text
#[test]
fn hostile_texts_are_tokenised_like_others() {
    let unknown = ["[UNK]"];
    assert_eq!(pieces(&"a".repeat(10_000)), unknown);
    assert_eq!(pieces(&"é".repeat(101)), unknown);
    assert_ne!(pieces(&"é".repeat(100)), unknown);
    assert_eq!(pieces(&format!("a{}", "\u{301}".repeat(10_000))), ["a"]);
    assert_eq!(pieces("🦀 memory👩‍💻"), ["[UNK]", "[UNK]"]);
    assert_eq!(
        pieces("\u{202e}שלום, عالم\u{202c}"),
        ["ש", "##ל", "##ו", "##ם", ",", "ع", "##ا", "##ل", "##م"]
    );
    assert_eq!(pieces("[UNK] ##s"), ["[", "un", "##k", "]", "#", "#", "s"]);
    assert_eq!(pieces("'\"; DROP--"), ["'", "\"", ";", "drop", "-", "-"]);
}

/// @meaning_hostile_text
#[test]
fn only_the_beginning_of_a_long_text_counts() {
    let long = "write lock ".repeat(10_000);
    assert!(long.len() > 100_000);
    assert_eq!(Pieces::of(&long).rows().len(), PIECES_MAX);
    assert_eq!(Vector::of(&long), Vector::of(&long[..11 * PIECES_MAX / 2]));
    // A word is cut at the last piece, but all of it decides whether it is known.
    let full = "a ".repeat(PIECES_MAX - 1);
    assert_eq!(pieces(&format!("{full}logout"))[PIECES_MAX - 1], "logo");
    assert_eq!(pieces(&format!("{full}logout🦀"))[PIECES_MAX - 1], "[UNK]");
}

/// @meaning_hostile_text
#[test]
fn every_unicode_character_is_accepted() {
    for c in '\0'..=char::MAX {
        let found = Pieces::of(c.encode_utf8(&mut [0; 4])).rows().len();
        assert!(found <= 3, "{c:?}: {found} pieces");
    }
}

#[test]
fn a_stored_vector_is_read_back_and_a_broken_one_is_not() {
    let vector = Vector::of("the daemon holds the only write lock").unwrap();
    let bytes = vector.to_bytes();
    assert_eq!(bytes.len(), 132);
    assert_eq!(Vector::from_bytes(&bytes), Some(vector));
    for wrong in [&bytes[..131], &[bytes.as_slice(), &[0]].concat(), &[]] {
        assert_eq!(Vector::from_bytes(wrong), None);
    }
    for wrong in [f32::NAN, f32::INFINITY, -0.5, 0.0] {
        let mut bytes = bytes;
        bytes[DIMENSIONS..].copy_from_slice(&wrong.to_le_bytes());
        assert_eq!(Vector::from_bytes(&bytes), None, "{wrong}");
    }
}

#[test]
fn numbers_are_rounded_to_the_nearest() {
    for thousandths in -127_000..=127_000 {
        let value = thousandths as f32 / 1000.0;
        assert_eq!(f32::from(rounded(value)), value.round_ties_even(), "{value}");
    }
}

/// @meaning_dot_alike
#[test]
fn every_cpu_gives_the_same_cosines_to_the_last_bit() {
    let mut random = VectorRandom(42);
    for count in [0, 1, 2, 3, 7, 8, 15, 31, 64, 100, 1001] {
        let query = Vector::of(&format!("query {}", random.next())).unwrap();
        let mut cells: Vec<_> = (0..count).map(|_| random.cells()).collect();
        cells.extend([[-128; DIMENSIONS], [127; DIMENSIONS], *query.cells()]);
        let reciprocals: Vec<f32> =
            cells.iter().map(|_| ((random.next() % 1000 + 1) as f32).recip()).collect();
        let mut chosen = vec![0f32; cells.len()];
        let mut portable = chosen.clone();
        scan(&query, &cells, &reciprocals, &mut chosen);
        let cosines = portable.as_mut_slice();
        CpuLoop::Scan { query: &query, cells: &cells, reciprocals: &reciprocals, cosines }
            .run_portably();
        for (index, cells) in cells.iter().enumerate() {
            let products =
                query.cells().iter().zip(cells).map(|(a, b)| i64::from(*a) * i64::from(*b));
            let expected = products.sum::<i64>() as f32 * (query.reciprocal() * reciprocals[index]);
            assert_eq!(chosen[index].to_bits(), expected.to_bits());
            assert_eq!(portable[index].to_bits(), expected.to_bits());
        }
    }
}

/// @meaning_dot_alike
#[test]
fn every_cpu_gives_a_text_the_same_sum_to_the_last_bit() {
    for (text, _, _) in VECTORS {
        let pieces = Pieces::of(text);
        let mut portable = [0f32; DIMENSIONS];
        CpuLoop::Sum { rows: pieces.rows(), sum: &mut portable }.run_portably();
        assert_eq!(sum_of(text).map(f32::to_bits), portable.map(f32::to_bits), "{text:?}");
    }
}

#[test]
fn a_scan_stops_at_the_shortest_slice() {
    let query = Vector::of("memory").unwrap();
    let mut cosines = [9.0; 3];
    scan(&query, &[*query.cells(); 2], &[query.reciprocal(); 5], &mut cosines);
    assert!((cosines[0] - 1.0).abs() < 1e-6 && cosines[0] == cosines[1]);
    assert_eq!(cosines[2], 9.0);
}

#[test]
fn a_file_that_is_not_the_table_is_refused_with_the_reason() {
    let layout = TableLayout::read(FILE).unwrap();
    assert_eq!((layout.rows, layout.vocabulary.start), (29_524, 24));
    assert_eq!(layout.vocabulary.end, layout.scales_at);
    assert_eq!(layout.vectors_at + layout.rows * DIMENSIONS, FILE.len());
    let changed = |at: usize, byte: u8| {
        let mut file = FILE.to_vec();
        file[at] = byte;
        TableLayout::read(&file).unwrap_err()
    };
    assert!(TableLayout::read(&[]).unwrap_err().contains("0 bytes"));
    let short = TableLayout::read(&FILE[..FILE.len() - 1]).unwrap_err();
    assert!(short.contains("4116856 bytes") && short.contains("promises 4116857"), "{short}");
    assert!(changed(0, b'X').contains("RKEMBED1"));
    assert!(changed(12, 64).contains("64 dimensions"));
    assert!(changed(24, b'\n').contains("29525 word pieces for 29524 rows"));
    assert!(changed(24, 0xff).contains("not UTF-8"));
}
