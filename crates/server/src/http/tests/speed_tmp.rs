//! temporary
use super::*;
use std::io::{Read as _, Write as _};

fn rate(port: u16, request: &[u8], conns: usize, n: usize) -> f64 {
    let started = std::time::Instant::now();
    std::thread::scope(|s| {
        for _ in 0..conns {
            s.spawn(|| {
                let mut c = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
                c.set_nodelay(true).unwrap();
                let mut b = [0; 65536];
                for _ in 0..n {
                    c.write_all(request).unwrap();
                    let k = c.read(&mut b).unwrap();
                    assert!(b[..k].starts_with(b"HTTP/1.1 200"));
                }
            });
        }
    });
    (n * conns) as f64 / started.elapsed().as_secs_f64()
}

#[test]
fn speed() {
    let rt =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let rt2 =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let server = rt.block_on(Server::new());
    let body = set_hint(1, "build").to_string();
    rt.block_on(server.ask("POST", "/rpc", &[], &body));
    let body = get_hint(1, "build").to_string();
    let reply = rt.block_on(server.ask("POST", "/rpc", &[], &body));
    let bytes = reply.body.len();
    let (tx, rx) = std::sync::mpsc::channel();
    rt2.spawn(async move { crate::bare::serve(bytes, move |p| tx.send(p).unwrap()).await });
    let bare = rx.recv().unwrap();
    let req = format!(
        "POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    if std::env::var_os("ONLY_OURS").is_some() {
        println!("{}", rate(server.address.port(), req.as_bytes(), 1, 100000));
        return;
    }
    for conns in [1, 4] {
        let mut all = vec![];
        for _ in 0..31 {
            let b = rate(bare, req.as_bytes(), conns, 1000 / conns);
            let o = rate(server.address.port(), req.as_bytes(), conns, 1000 / conns);
            all.push((o / b, o, b));
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        println!("conns {conns}: {:?}", all[15]);
    }
}
