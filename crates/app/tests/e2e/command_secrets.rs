//! Secrets on command lines: after the hook has run, no file of ours contains one.

use serde_json::json;

use super::home;

/// Commands with `@` in the place of their secret.
const COMMANDS: [&str; 38] = [
    "DB_PASS=@ ./manage.py migrate",
    "mysql -u root -p@ shop",
    "sshpass -p @ ssh 10.0.0.5 uptime",
    "docker login -u ci -p @ registry.example.com",
    "redis-cli -a @ ping",
    "az login -u svc -p @",
    "ldapsearch -x -D cn=admin -w @ -b dc=example",
    "keytool -list -keystore ks.jks -storepass @",
    "echo @ | sudo -S apt-get update",
    "http --auth admin:@ GET :8000/me",
    "psql -c \"ALTER USER app WITH PASSWORD '@'\"",
    "mysql -e \"CREATE USER bob IDENTIFIED BY '@'\"",
    "echo '<password>@</password>' > conf.xml",
    "echo 'machine h login u password @' >> ~/.netrc",
    "setx DB_PASSWORD @",
    "set -gx GITHUB_TOKEN @",
    "curl -uadmin:@ https://api.example.com",
    "PGPASSWORD=@ psql -h db",
    "openssl rsa -in k.pem -passin pass:@",
    "7z x in.7z -p@ -y",
    "helm install app ./chart --set postgresql.auth.password=@",
    "kubectl create secret generic db --from-literal=api=@",
    "htpasswd -b .htpasswd bob @",
    "xfreerdp /u:bob /p:@ /v:10.0.0.7",
    "lftp -u bob,@ sftp://host",
    "smbclient -U bob%@ //srv/share",
    "snmpwalk -v3 -u bob -A @ host",
    "unknown-tool -u bob -p @ --all",
    "curl -su admin:@ https://api.example.com",
    "curl -ksSu admin:@ https://api.example.com",
    "curl -sU proxy:@ https://api.example.com",
    "skopeo copy --src-creds ci:@ docker://a/b dir:b",
    "skopeo copy --dest-creds=ci:@ dir:b docker://a/b",
    "skopeo inspect --creds=ci:@ docker://a/b",
    "buildah pull --creds ci:@ docker.io/a/b",
    "podman push --creds=ci:@ a/b",
    "bteq .logon tdhost/bob,@",
    "bteq <<EOF\n.logon tdhost/bob,@\nselect 1, 2;\nEOF",
];
/// Names of variables with a hex key.
const KEYS: [&str; 4] = ["ENCRYPTION_KEY", "SIGNING_KEY", "RAILS_MASTER_KEY", "AZURE_OPENAI_KEY"];

/// Each command with a unique secret value.
fn events() -> Vec<(String, String)> {
    let commands = COMMANDS.iter().enumerate().map(|(number, command)| {
        let value = format!("Tr4vel{number:02}Light");
        (command.replace('@', &value), value)
    });
    let keys = KEYS.iter().enumerate().map(|(number, name)| {
        let value = format!("8c7e3a1f9b2d4c6e0f8a7b5d3c1e9f{number:02}");
        (format!("{name}={value} ./serve"), value)
    });
    commands.chain(keys).collect()
}

/// Commands whose secret `@` is a word, and other ways to pass one in a shell.
const WORDS: [(&str, &str); 26] = [
    ("DB_PASS=@ ./run.sh", "swordfishes"),
    ("PGPASSWORD=@ psql -h db", "48213377"),
    ("MYSQL_PWD=@ mysql shop", "kestrel-nine"),
    ("export REDIS_PASSWORD=@", "Tigger"),
    ("export DB_PASSWORD=\"@\"", "Rain0n tin roof"),
    ("RESTIC_PASSWORD=@ restic snapshots", "amber\\ kite7"),
    ("ssh-keygen -t ed25519 -N @ -f id", "lanternfish"),
    ("openssl passwd -6 @", "brasskettle"),
    ("mysql.exe -u root -p@ shop", "copperowl"),
    ("az keyvault secret set --name db --value @", "granitefox"),
    ("redis-cli AUTH app @", "silvermarsh"),
    ("REDISCLI_AUTH=@ redis-cli ping", "marblecat"),
    ("docker secret create pw - <<< @", "saffronhill"),
    ("yes @ | passwd bob", "quietriver"),
    ("rclone config create nas sftp user bob pass @", "mossyrock"),
    ("doppler secrets set DB_PASSWORD @", "crimsonbay"),
    ("schtasks /create /tn job /ru bob /rp @", "hazelnook"),
    ("restic --password-command 'echo @' snapshots", "pepperwood"),
    ("restic --password-file=<(echo @) snapshots", "birchhollow"),
    ("P=@ && sshpass -p $P ssh host", "foxgloves"),
    ("read PW <<< @", "juniperlane"),
    ("psql -c \"INSERT INTO users (name, password) VALUES ('bob', '@')\"", "willowbrook"),
    ("node -e \"console.log(bcrypt('@'))\"", "cedarpoint"),
    ("expect -c 'expect \"password:\"; send \"@\\r\"'", "ferncliff"),
    ("cat notes # run `echo \"bob:@\" | chpasswd`", "stonebridge"),
    ("cat notes # das Passwort lautet @", "Nebel7Krone"),
];

/// Commands whose secret ends with `@` and has quotes, blanks or brackets before it, or is passed on by a here-document.
const QUOTED: [&str; 24] = [
    r"mysql -p'it'\''s@' shop",
    r#"PGPASSWORD='it'"'"'s@' psql -h db"#,
    r#"export DB_PASSWORD="it\"s@""#,
    r"redis-cli -a it\'s@ ping",
    r"redis-cli -a $'it\'s@' ping",
    r#"mysql --password="it"s@ shop"#,
    "sshpass -p '<angle>@' ssh host",
    "mysql --password='{brace},@' shop",
    "docker login -u bob -p 'two\nlines@' registry.example.com",
    "PGPASSWORD='two\nlines@' psql -h db",
    "PGPASSWORD='back\\slash\\@' psql -h db",
    "export DB_PASSWORD='@ '",
    "curl -u bob:a:b/c@@ https://api.example.com",
    "chpasswd <<EOF\nbob:@\nEOF",
    "cat <<'EOF' | docker login -u bob --password-stdin\n@\nEOF",
    "read -s P <<< @",
    "(echo @; echo @) | smbpasswd -a bob",
    "redis-cli <<< 'AUTH @'",
    "DB_PASS=${DB_PASS:-@} ./run",
    "PASSWORD=\"${USER}@\" ./run",
    "echo '*:*:*:app:@' > ~/.pgpass",
    "mongosh --eval 'db.auth(\"app\",\"@\")'",
    "sqlite3 a.db \"PRAGMA key = '@'\"",
    "wg set wg0 private-key <(echo @)",
];

/// Tokens of rarer programs, settings by name, environment variables with a suffix, and logins that read their input,
/// with `{}` in the place of the secret.
const RARER: [&str; 24] = [
    "vault operator unseal {}",
    "cloudflared service install {}",
    "nomad login -token {}",
    "microk8s join 10.0.0.5:25000/{}",
    "netlify env:set API_KEY {}",
    "some-cloud config set api_token {}",
    "composer config http-basic.repo.example.com bob {}",
    "bundle config set gems.example.com bob:{}",
    "sops --set '[\"db_password\"] \"{}\"' f.yaml",
    "az storage blob list --account-key {}",
    "npm login --_auth={}",
    "TF_TOKEN_app_terraform_io={} terraform init",
    "export API_TOKEN_STAGING={}",
    "some-tool --user bob:{} get",
    "mysqlsh bob:{}@db.example.com",
    "cvs -d :pserver:bob:{}@cvs.example.com:/r login",
    "echo {} | su -c ls bob",
    "echo {} | some-tool login",
    "some-tool unlock <<< {}",
    "./manage.py changepassword bob <<< {}",
    "docker secret create db <(echo {})",
    "samba-tool user create bob {}",
    "php -r 'new PDO(\"mysql:host=h\", \"bob\", \"{}\");'",
    "expect -c 'send \"{}\\r\"'",
];

/// Options and other programs before a secret, short flags in one word, strings of SQL, and arguments after `--`, with
/// `{}` in the place of the secret.
const OPTIONS: [&str; 18] = [
    "echo {} | sudo -u bob -S id",
    "echo {} | sudo -p '' -S id",
    "echo {} | sudo -g wheel -S id",
    "echo {} | time sudo -S id",
    "echo {} | ssh h sudo -S id",
    "docker -H tcp://h login -p {}",
    "kubectl -n prod create secret generic db --from-literal=pin={}",
    "ldapsearch -xw {}",
    "mysql -NBp{}",
    "mysql -vp'{}'",
    "sshpass -vp {} ssh h",
    "redis-cli -a{}",
    "psql -c \"ALTER ROLE a PASSWORD E'{}'\"",
    "psql -c 'ALTER ROLE a PASSWORD $${}$$'",
    "sqlcmd -Q \"CREATE LOGIN x WITH PASSWORD = N'{}'\"",
    "mysql -e \"ALTER USER a IDENTIFIED BY \\\"{}\\\"\"",
    "npm run deploy -- --password {}",
    "yarn deploy -- --token {}",
];

/// @capture_secret_on_a_command_line
#[test]
fn no_secret_after_options_flags_in_one_word_or_double_dashes_is_stored_in_any_file() {
    let events = OPTIONS.iter().enumerate().map(|(number, command)| {
        let value = format!("sunshine1{number:02}x");
        (command.replace("{}", &value), value)
    });
    let events: Vec<(String, String)> = events.collect();
    assert_stored_in_no_file(&events, "sshpass", true);
}

/// @capture_secret_on_a_command_line
#[test]
fn no_secret_that_a_shell_has_to_quote_is_stored_in_any_file() {
    let events = QUOTED.iter().enumerate().map(|(number, command)| {
        let value = format!("Tr4vel{number:02}Light");
        // `@@` is an escaped `@`.
        let command = command.replace("@@", "\u{1}@").replace('@', &value).replace('\u{1}', "@");
        (command, value)
    });
    let events: Vec<(String, String)> = events.collect();
    assert_stored_in_no_file(&events, "smbpasswd", false);
}

/// @capture_secret_on_a_command_line
/// @capture_secret_repeated
#[test]
fn no_secret_of_a_command_line_is_stored_in_any_file() {
    assert_stored_in_no_file(&events(), "xfreerdp", true);
}

/// @capture_secret_on_a_command_line
/// @capture_secret_repeated
#[test]
fn no_secret_that_is_a_word_or_passed_on_by_the_shell_is_stored_in_any_file() {
    let event =
        |(command, value): &(&str, &str)| (command.replace('@', value), (*value).to_owned());
    let events: Vec<(String, String)> = WORDS.iter().map(event).collect();
    assert_stored_in_no_file(&events, "schtasks", true);
}

/// @capture_secret_on_a_command_line
#[test]
fn no_secret_of_a_login_or_a_rarer_program_is_stored_in_any_file() {
    let events = RARER.iter().enumerate().map(|(number, command)| {
        let value = format!("Tr4vel{number:02}Light");
        (command.replace("{}", &value), value)
    });
    let events: Vec<(String, String)> = events.collect();
    assert_stored_in_no_file(&events, "cloudflared", true);
}

/// @capture_unfinished_flag
#[test]
fn a_command_that_ends_with_the_flag_of_a_password_is_stored() {
    let home = home();
    let _daemon = home.daemon();
    let commands =
        ["kestrel1 --password ", "kestrel2 --token\"", "kestrel3 --secret'", "kestrel4 --api-key"];
    for command in commands {
        let event = json!({
            "session_id": "s-1", "cwd": "/srv/site", "tool_name": "Bash",
            "tool_input": { "command": command }, "tool_response": { "stdout": command },
        });
        home.hook("PostToolUse", &event);
        let found = home.call("search", &json!({ "query": &command[..8], "project": "*" }));
        assert!(found["results"][0].to_string().contains(&command[..8]), "{command}: {found}");
    }
}

/// Sends each command as an event, if `repeated` with the secret in all of its texts, and searches the files of the home
/// for it.
fn assert_stored_in_no_file(events: &[(String, String)], program: &str, repeated: bool) {
    let mut home = home();
    home.set("REKINDLE_LOG_LEVEL", "debug");
    let send = |session: &str| {
        for (command, value) in events {
            let value = if repeated { value } else { "it" };
            let said = format!("connecting\nthe server does not know {value} here\n");
            let event = json!({
                "session_id": session, "cwd": "/srv/site", "tool_name": "Bash",
                "tool_input": { "command": command, "description": format!("log in with {value}") },
                "tool_response": { "stdout": said, "stderr": said },
            });
            home.hook("PostToolUse", &event);
            let mut failure = event.clone();
            failure["error"] = json!(format!("Exit code 1\n{said}"));
            home.hook("PostToolUseFailure", &failure);
        }
    };
    let assert_clean = || {
        for (path, bytes) in home.files() {
            let text = String::from_utf8_lossy(&bytes);
            for (command, value) in events {
                assert!(!text.contains(value.as_str()), "{} has {command}", path.display());
            }
        }
    };
    // Once through the spool and once through the socket.
    send("s-1");
    assert_eq!(home.spooled().len(), 2 * events.len());
    assert_clean();
    let mut daemon = home.daemon();
    send("s-2");
    let found = home.call("search", &json!({ "query": program, "project": "*" }));
    assert!(found["results"][0].to_string().contains("[redacted:command-secret]"), "{found}");
    assert_clean();
    daemon.kill();
    assert_clean();
}
