//! Files of the page by path: those of the page itself and those that plugins bring along.

use std::collections::BTreeMap;

use contract::Asset;
use hyper::header::{self, HeaderMap};

use crate::guard;

/// All assets, each with the hash of its content.
pub(crate) struct Assets(BTreeMap<&'static str, HashedAsset>);

pub(crate) struct HashedAsset {
    pub(crate) asset: Asset,
    /// The SHA-256 of the content in quotes.
    pub(crate) etag: String,
}

impl Assets {
    /// Of two assets with one path, which is a defect of the build, the first one is served.
    pub(crate) fn new<'a>(assets: impl Iterator<Item = &'a Asset>) -> Assets {
        let mut by_path = BTreeMap::new();
        for asset in assets.copied() {
            let etag = format!("\"{}\"", guard::sha256(asset.bytes));
            by_path.entry(asset.path).or_insert(HashedAsset { asset, etag });
        }
        Assets(by_path)
    }

    pub(crate) fn find(&self, path: &str) -> Option<&HashedAsset> {
        self.0.get(path)
    }
}

impl HashedAsset {
    /// Whether the browser has this very content, by its header `If-None-Match`.
    pub(crate) fn is_known(&self, request: &HeaderMap) -> bool {
        let given = request.get_all(header::IF_NONE_MATCH).iter();
        let mut tags = given.filter_map(|value| value.to_str().ok()).flat_map(|v| v.split(','));
        tags.any(|tag| {
            let tag = tag.trim();
            tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == self.etag
        })
    }
}
