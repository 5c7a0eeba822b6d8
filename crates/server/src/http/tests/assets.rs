//! Files of the page and of plugins, through a real socket: types, hashes, caching.

use contract::{Asset, Operation, Plugin};

use super::*;

/// The last two are not served: their paths belong to the page and to the daemon.
const ASSETS: &[Asset] = &[
    Asset::script("/boxes.js", "export const boxes = 1;\n"),
    Asset::script("/session.js", "alert(1)"),
    Asset::script("/health", "alert(1)"),
];

struct Scripts;

impl Plugin for Scripts {
    fn name(&self) -> &'static str {
        "scripts"
    }

    fn operations(&self) -> Vec<Operation> {
        Vec::new()
    }

    fn assets(&self) -> &'static [Asset] {
        ASSETS
    }
}

/// @page_assets
#[tokio::test]
async fn files_of_the_page_and_of_plugins_have_a_type_and_a_hash() {
    let home = HintsHome::with_plugin(Arc::new(Scripts));
    let server = TestServer::over(home, limits::CONNECTIONS_MAX).await;
    let get = async |path: &str, headers: &[&str]| {
        let mut all = vec!["Host: localhost"];
        all.extend(headers);
        server.ask_bare("GET", path, &all, "").await
    };
    let mut tags = Vec::new();
    for (path, kind, text) in [
        ("/style.css", "text/css; charset=utf-8", include_str!("../../../../../web/style.css")),
        (
            "/session.js",
            "text/javascript; charset=utf-8",
            include_str!("../../../../../web/session.js"),
        ),
        ("/boxes.js", "text/javascript; charset=utf-8", "export const boxes = 1;\n"),
    ] {
        let file = get(path, &[]).await;
        assert_eq!((file.status, file.body.as_str()), (200, text), "{path}");
        assert_eq!(file.headers["content-type"], kind);
        assert_eq!(file.headers["cache-control"], "no-cache");
        assert_eq!(file.headers["x-content-type-options"], "nosniff");
        assert!(file.headers["content-security-policy"].starts_with("default-src 'none'"));
        let tag = file.headers["etag"].clone();
        assert!(tag.len() == 66 && tag.starts_with('"') && tag.ends_with('"'), "{tag}");
        for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
            let same = get(path, &[&format!("If-None-Match: {known}")]).await;
            assert_eq!((same.status, same.body.as_str()), (304, ""), "{known}");
            assert_eq!(
                (&same.headers["etag"], same.headers["cache-control"].as_str()),
                (&tag, "no-cache")
            );
        }
        assert_eq!(get(path, &["If-None-Match: \"x\""]).await.status, 200);
        tags.push(tag);
    }
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), 3, "each content has its own hash");
    assert_eq!(get("/health", &[]).await.headers["content-type"], "application/json");
    for name in ["/index.html", "/closed.html", "/missing.html"] {
        assert_ne!(get(name, &[]).await.status, 200, "{name} is an answer to GET / only");
    }
    let page = include_str!("../../../../../web/index.html");
    let loaded = page.split('"').filter(|text| text.starts_with('/') && text.contains('.'));
    for path in loaded {
        assert_eq!(get(path, &[]).await.status, 200, "the page loads {path}");
    }
    let posted = server.ask("POST", "/boxes.js", &[], "{}").await;
    assert_eq!((posted.status, posted.headers["allow"].as_str()), (405, "GET, HEAD"));
}
