//! The hash behind the index of word pieces. The build fills the index with it and a look-up walks
//! the index with it, so it stands once.

/// Bits of a place in the index.
pub(crate) const SLOT_BITS: u32 = 16;

/// The longest word piece in bytes, without the `##` of a continuation.
pub(crate) const PIECE_BYTES_MAX: usize = 18;

/// Whether a piece begins a word or goes on with it. The same letters are two pieces then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Beginning,
    Continuation,
}

/// The hash of a piece's bytes so far; the next byte extends it, so that all beginnings of a word
/// are hashed in one go.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spread(u32);

impl Spread {
    pub(crate) fn new(place: Place) -> Self {
        Self(match place {
            Place::Beginning => 0x811c_9dc5,
            Place::Continuation => 0x1b87_3593,
        })
    }

    #[inline]
    pub(crate) fn with(self, byte: u8) -> Self {
        Self((self.0.rotate_left(5) ^ u32::from(byte)).wrapping_mul(0x9e37_79b1))
    }

    /// Where to look first.
    #[inline]
    pub(crate) fn slot(self) -> usize {
        (self.0 >> (u32::BITS - SLOT_BITS)) as usize
    }

    /// What tells most other pieces apart without looking at their letters: 8 more bits of the
    /// hash, the place and the length. It has `TAG_BITS` bits.
    #[inline]
    pub(crate) fn tag(self, place: Place, length: usize) -> u32 {
        let more = (self.0 >> 8) & 0xff;
        (more << 6) | (u32::from(place == Place::Continuation) << 5) | (length as u32 & 0x1f)
    }
}

/// Bits of a tag. A piece's offset in the file has the others of a u32.
pub(crate) const TAG_BITS: u32 = 14;
