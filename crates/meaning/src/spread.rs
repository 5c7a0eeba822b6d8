//! The hash of the index of word pieces. Both the build, which fills the index, and the lookup use it.

/// Bits of a slot number in the index.
pub(crate) const SLOT_BITS: u32 = 16;

/// The longest word piece in bytes, without the `##` of a continuation.
pub(crate) const PIECE_BYTES_MAX: usize = 18;

/// Whether a piece starts a word or continues it. Equal letters in both positions are two pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PiecePosition {
    Beginning,
    Continuation,
}

/// The hash of a piece's bytes so far. The next byte extends it, so that all prefixes of a word are hashed in one
/// pass.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PieceHash(u32);

impl PieceHash {
    pub(crate) fn new(place: PiecePosition) -> Self {
        Self(match place {
            PiecePosition::Beginning => 0x811c_9dc5,
            PiecePosition::Continuation => 0x1b87_3593,
        })
    }

    #[inline]
    pub(crate) fn with(self, byte: u8) -> Self {
        Self((self.0.rotate_left(5) ^ u32::from(byte)).wrapping_mul(0x9e37_79b1))
    }

    /// The first slot to probe.
    #[inline]
    pub(crate) fn slot(self) -> usize {
        (self.0 >> (u32::BITS - SLOT_BITS)) as usize
    }

    /// A tag that distinguishes most other pieces without comparing their letters: 8 more bits of the hash, the
    /// position and the length. It has `TAG_BITS` bits.
    #[inline]
    pub(crate) fn tag(self, place: PiecePosition, length: usize) -> u32 {
        let more = (self.0 >> 8) & 0xff;
        (more << 6)
            | (u32::from(place == PiecePosition::Continuation) << 5)
            | (length as u32 & 0x1f)
    }
}

/// Bits of a tag. The other bits of a u32 are the piece's offset in the file.
pub(crate) const TAG_BITS: u32 = 14;
