//! Decompresses zlib streams, in which git stores objects. Written here because commits are small and few, and a library
//! would be the only dependency of this crate.

/// The text of a zlib stream; `None` if it is damaged or longer than `max`. The checksum at its end is not compared: git's
/// own hash of the object covers it.
pub(crate) fn zlib(bytes: &[u8], max: usize) -> Option<Vec<u8>> {
    let [method, flags, rest @ ..] = bytes else { return None };
    let has_dictionary = flags & 0x20 != 0;
    if method & 0x0f != 8 || has_dictionary {
        return None;
    }
    let mut bits = Bits { bytes: rest, at: 0, held: 0, count: 0 };
    let mut out = Vec::new();
    loop {
        let is_last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut out, max)?,
            1 => {
                let (literals, distances) = fixed()?;
                codes(&mut bits, &mut out, max, &literals, &distances)?;
            }
            2 => {
                let (literals, distances) = dynamic(&mut bits)?;
                codes(&mut bits, &mut out, max, &literals, &distances)?;
            }
            _ => return None,
        }
        if is_last {
            return Some(out);
        }
    }
}

/// The bits of a stream, the lowest of each byte first.
struct Bits<'b> {
    bytes: &'b [u8],
    at: usize,
    held: u32,
    count: u32,
}

impl Bits<'_> {
    fn take(&mut self, wanted: u32) -> Option<u32> {
        while self.count < wanted {
            self.held |= u32::from(*self.bytes.get(self.at)?) << self.count;
            self.at += 1;
            self.count += 8;
        }
        let value = self.held & ((1 << wanted) - 1);
        self.held >>= wanted;
        self.count -= wanted;
        Some(value)
    }
}

fn stored(bits: &mut Bits<'_>, out: &mut Vec<u8>, max: usize) -> Option<()> {
    bits.take(bits.count % 8)?;
    let length = bits.take(16)?;
    if bits.take(16)? != length ^ 0xffff {
        return None;
    }
    for _ in 0..length {
        if out.len() >= max {
            return None;
        }
        out.push(u8::try_from(bits.take(8)?).ok()?);
    }
    Some(())
}

const LONGEST_CODE: usize = 15;

/// A canonical Huffman code: how many symbols have each length, and the symbols in order.
struct Code {
    counts: [u16; LONGEST_CODE + 1],
    symbols: Vec<u16>,
}

impl Code {
    fn new(lengths: &[u8]) -> Option<Code> {
        let mut counts = [0u16; LONGEST_CODE + 1];
        for length in lengths {
            *counts.get_mut(usize::from(*length))? += 1;
        }
        counts[0] = 0;
        let mut offsets = [0u16; LONGEST_CODE + 2];
        for length in 1..=LONGEST_CODE {
            offsets[length + 1] = offsets[length] + counts[length];
        }
        let mut symbols = vec![0; lengths.len()];
        for (symbol, length) in lengths.iter().enumerate().filter(|(_, length)| **length > 0) {
            let place = &mut offsets[usize::from(*length)];
            *symbols.get_mut(usize::from(*place))? = u16::try_from(symbol).ok()?;
            *place += 1;
        }
        Some(Code { counts, symbols })
    }

    fn next(&self, bits: &mut Bits<'_>) -> Option<u16> {
        let (mut code, mut first, mut index) = (0i32, 0i32, 0i32);
        for count in &self.counts[1..] {
            code |= i32::try_from(bits.take(1)?).ok()?;
            let count = i32::from(*count);
            if code - count < first {
                let place = usize::try_from(index + (code - first)).ok()?;
                return self.symbols.get(place).copied();
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

fn fixed() -> Option<(Code, Code)> {
    let mut lengths = [8u8; 288];
    lengths[144..256].fill(9);
    lengths[256..280].fill(7);
    Some((Code::new(&lengths)?, Code::new(&[5; 30])?))
}

fn dynamic(bits: &mut Bits<'_>) -> Option<(Code, Code)> {
    const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    let literals = usize::try_from(bits.take(5)?).ok()? + 257;
    let distances = usize::try_from(bits.take(5)?).ok()? + 1;
    let given = usize::try_from(bits.take(4)?).ok()? + 4;
    if literals > 286 || distances > 30 {
        return None;
    }
    let mut lengths = [0u8; 19];
    for place in &ORDER[..given] {
        lengths[*place] = u8::try_from(bits.take(3)?).ok()?;
    }
    let code = Code::new(&lengths)?;
    let mut lengths: Vec<u8> = Vec::new();
    while lengths.len() < literals + distances {
        let (value, times) = match code.next(bits)? {
            16 => (*lengths.last()?, bits.take(2)? + 3),
            17 => (0, bits.take(3)? + 3),
            18 => (0, bits.take(7)? + 11),
            length => (u8::try_from(length).ok()?, 1),
        };
        lengths.extend((0..times).map(|_| value));
    }
    if lengths.len() > literals + distances || lengths[256] == 0 {
        return None;
    }
    Some((Code::new(&lengths[..literals])?, Code::new(&lengths[literals..])?))
}

fn codes(
    bits: &mut Bits<'_>,
    out: &mut Vec<u8>,
    max: usize,
    literals: &Code,
    distances: &Code,
) -> Option<()> {
    const LENGTHS: [u32; 29] = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115,
        131, 163, 195, 227, 258,
    ];
    const LENGTH_BITS: [u32; 29] =
        [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
    const DISTANCES: [u32; 30] = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537,
        2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
    ];
    const DISTANCE_BITS: [u32; 30] = [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12,
        13, 13,
    ];
    loop {
        let symbol = literals.next(bits)?;
        if symbol == 256 {
            return Some(());
        }
        if let Ok(byte) = u8::try_from(symbol) {
            if out.len() >= max {
                return None;
            }
            out.push(byte);
            continue;
        }
        let place = usize::from(symbol - 257);
        let length = LENGTHS.get(place)? + bits.take(*LENGTH_BITS.get(place)?)?;
        let place = usize::from(distances.next(bits)?);
        let distance = DISTANCES.get(place)? + bits.take(*DISTANCE_BITS.get(place)?)?;
        let start = out.len().checked_sub(usize::try_from(distance).ok()?)?;
        let length = usize::try_from(length).ok()?;
        if out.len() + length > max {
            return None;
        }
        for place in start..start + length {
            out.push(out[place]);
        }
    }
}
