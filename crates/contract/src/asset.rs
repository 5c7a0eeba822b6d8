//! Files of the web page that plugins bring along.

/// A file that the daemon serves to browsers. It is compiled in and public: it must contain no user data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Its address, for example `/sessions.js`; a leading slash, no parameters.
    pub path: &'static str,
    /// For example `text/javascript; charset=utf-8`.
    pub media_type: &'static str,
    pub bytes: &'static [u8],
}

impl Asset {
    pub const fn script(path: &'static str, text: &'static str) -> Asset {
        let bytes = text.as_bytes();
        Asset { path, media_type: "text/javascript; charset=utf-8", bytes }
    }

    pub const fn style(path: &'static str, text: &'static str) -> Asset {
        Asset { path, media_type: "text/css; charset=utf-8", bytes: text.as_bytes() }
    }
}
