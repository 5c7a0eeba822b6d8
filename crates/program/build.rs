//! Notes when this binary was built: of two builds of one version, the later one is the newer.

use std::time::{SystemTime, UNIX_EPOCH};

fn main() {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse::<u64>().ok());
    #[expect(clippy::disallowed_methods, reason = "a build script has no other clock")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    println!("cargo::rustc-env=REKINDLE_BUILT={}", given.unwrap_or(now));
    println!("cargo::rerun-if-env-changed=SOURCE_DATE_EPOCH");
    // Any change of the product's source is a new build.
    println!("cargo::rerun-if-changed=..");
    println!("cargo::rerun-if-changed=../../web");
}
