//! Parses compiled zone files (TZif, RFC 9636), such as `/etc/localtime`.

use crate::Zone;
use crate::rule::ZoneRule;

const HEADER_BYTES: usize = 44;

/// Parses a zone file; `None` if the bytes are not one.
pub(crate) fn parse(bytes: &[u8]) -> Option<Zone> {
    let first = ZoneBlock::read(bytes, 4)?;
    if bytes.get(4)? < &b'2' {
        return first.zone(None);
    }
    // Since version 2 a second block repeats the data with 64-bit times, and a rule follows it.
    let rest = bytes.get(first.len..)?;
    let second = ZoneBlock::read(rest, 8)?;
    let footer = std::str::from_utf8(rest.get(second.len..)?).ok()?;
    let rule = footer.strip_prefix('\n').and_then(|text| text.split('\n').next());
    second.zone(rule.and_then(ZoneRule::parse))
}

/// Times, types and offsets of one half of a file.
struct ZoneBlock<'b> {
    times: &'b [u8],
    kinds: &'b [u8],
    types: &'b [u8],
    time_bytes: usize,
    /// Bytes of the whole block, header included.
    len: usize,
}

impl<'b> ZoneBlock<'b> {
    fn read(bytes: &'b [u8], time_bytes: usize) -> Option<ZoneBlock<'b>> {
        let header = bytes.get(..HEADER_BYTES).filter(|header| header.starts_with(b"TZif"))?;
        let count = |place: usize| -> Option<usize> {
            let at = 20 + 4 * place;
            let number = u32::from_be_bytes(header.get(at..at + 4)?.try_into().ok()?);
            usize::try_from(number).ok()
        };
        let (utc, standard, leaps) = (count(0)?, count(1)?, count(2)?);
        let (times, types, letters) = (count(3)?, count(4)?, count(5)?);
        let mut at = HEADER_BYTES;
        let mut part = |len: usize| -> Option<&'b [u8]> {
            let part = bytes.get(at..at.checked_add(len)?)?;
            at += len;
            Some(part)
        };
        let block = ZoneBlock {
            times: part(times.checked_mul(time_bytes)?)?,
            kinds: part(times)?,
            types: part(types.checked_mul(6)?)?,
            time_bytes,
            len: 0,
        };
        part(letters.checked_add(leaps.checked_mul(time_bytes + 4)?)?)?;
        part(standard.checked_add(utc)?)?;
        Some(ZoneBlock { len: at, ..block })
    }

    fn zone(&self, rule: Option<ZoneRule>) -> Option<Zone> {
        let offset = |kind: usize| -> Option<i64> {
            let bytes = self.types.get(kind.checked_mul(6)?..)?.get(..4)?;
            Some(i64::from(i32::from_be_bytes(bytes.try_into().ok()?)))
        };
        let times = self.times.chunks_exact(self.time_bytes).map(|time| match time {
            [a, b, c, d] => i64::from(i32::from_be_bytes([*a, *b, *c, *d])),
            _ => time.try_into().map_or(0, i64::from_be_bytes),
        });
        let changes: Option<Vec<(i64, i64)>> = times
            .zip(self.kinds)
            .map(|(at, kind)| Some((at, offset(usize::from(*kind))?)))
            .collect();
        let changes = changes?;
        let sorted = changes.windows(2).all(|two| two[0].0 < two[1].0);
        sorted.then_some(Zone { before: offset(0)?, changes, rule })
    }
}
