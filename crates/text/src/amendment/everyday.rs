//! Pairs of an older statement and a newer one that changes it in everyday words, or only seems to. They were written
//! before the rules.

use crate::Statement;

fn is_replaced((old, new): &(&str, &str)) -> bool {
    Statement::of(new).replaces(&Statement::of(old)).is_some()
}

const AMENDED: &[(&str, &str)] = &[
    ("We deploy with Ansible.", "Switch the deploys from Ansible to Kamal."),
    ("We deploy with Ansible.", "We switched from Ansible to Kamal for deploys."),
    ("Use moment for dates.", "Use date-fns instead of moment for dates."),
    ("The nightly backup goes to the NAS.", "We moved the nightly backup from the NAS to S3."),
    ("Sessions are stored in Redis.", "We moved the sessions from Redis to Postgres."),
    ("CI runs on Jenkins.", "CI moved from Jenkins to GitHub Actions."),
    ("The log level is info.", "The log level is now warning."),
    ("The staging URL is staging.example.org.", "The staging URL is now stage.example.net."),
    ("We use yarn to install packages.", "No longer yarn, use pnpm to install packages."),
    ("We use Mapbox for the maps.", "No longer Mapbox, use MapLibre."),
    ("The package is called tide-core.", "Rename tide-core to tide-engine."),
    ("The main branch is called master.", "We renamed master to main."),
    ("The helper is named fmt_price.", "fmt_price is now called format_price."),
    ("Read requests time out after 5 seconds.", "Read requests time out after 8 seconds now."),
    ("Gold customers get replies within a day.", "Gold customers get replies within an hour now."),
    ("Push notifications expire after a day.", "Push notifications expire after 3 days now."),
    ("The API listens on port 8080.", "Change the API port from 8080 to 9090."),
    ("The upload limit is 10 MB.", "We raised the upload limit from 10 MB to 25 MB."),
    ("Emails are sent with SendGrid.", "Emails are now sent with Postmark."),
    ("The job queue uses RabbitMQ.", "The job queue now uses NATS."),
    ("Images are served by nginx.", "Images are served by Caddy now."),
    ("We write the docs in AsciiDoc.", "We write the docs in Markdown now, not AsciiDoc."),
    ("The search uses Elasticsearch.", "The search goes from Elasticsearch to Meilisearch."),
    (
        "Translations are managed in Crowdin.",
        "Translations are no longer managed in Crowdin, use Weblate.",
    ),
    ("Use bcrypt for password hashes.", "Replace bcrypt with argon2 for password hashes."),
    ("We use Sentry for errors.", "We replaced Sentry with GlitchTip."),
    ("Monitoring runs on Prometheus.", "Prometheus is replaced by VictoriaMetrics for monitoring."),
    ("The frontend uses webpack.", "We migrated the frontend from webpack to Vite."),
    (
        "Python dependencies are managed with Poetry.",
        "Switch from Poetry to uv for the Python dependencies.",
    ),
    (
        "Release notes are written by hand.",
        "Stop writing release notes by hand, git-cliff does it.",
    ),
    ("The retention of access logs is 30 days.", "Keep access logs for 90 days instead of 30."),
    ("Tests run with Jest.", "Tests run with Vitest instead of Jest."),
    ("The default currency is dollar.", "The default currency is euro from now on."),
    ("We host the demo on Heroku.", "We host the demo on Fly.io now."),
    (
        "Feature branches are merged with a merge commit.",
        "Feature branches are squashed from now on, no merge commits.",
    ),
];

/// The newer one changes something else, or nothing.
const BOTH_HOLD: &[(&str, &str)] = &[
    ("We deploy with Ansible.", "Switch the laptops to Linux."),
    ("We use Sentry for errors.", "We replaced the Sentry logo with an icon."),
    ("Use moment for dates.", "Use lodash instead of underscore for arrays."),
    ("Sessions are stored in Redis.", "We moved the carts from Redis to Postgres."),
    ("The nightly backup goes to the NAS.", "We moved the weekly backup from the laptop to S3."),
    ("CI runs on Jenkins.", "The tests moved from tests/ to spec/."),
    ("The package is called tide-core.", "Rename tide-cli to tide-shell."),
    ("The helper is named fmt_price.", "fmt_date is now called format_date."),
    ("The API listens on port 8080.", "Change the metrics port from 9100 to 9200."),
    ("The upload limit is 10 MB.", "We raised the rate limit from 10 to 25."),
    ("Emails are sent with SendGrid.", "Text messages are now sent with Twilio."),
    ("The job queue uses RabbitMQ.", "The job queue now has a dashboard."),
    ("Images are served by nginx.", "Images are resized by nginx now."),
    ("Use bcrypt for password hashes.", "Replace the bcrypt import with the wrapper."),
    ("We use Mapbox for the maps.", "No longer draw the maps twice, use the cache."),
    ("The frontend uses webpack.", "We migrated the backend from Flask to FastAPI."),
    (
        "Python dependencies are managed with Poetry.",
        "Switch from npm to pnpm for the frontend dependencies.",
    ),
    ("Release notes are written by hand.", "Stop writing tests by hand, the generator does it."),
    (
        "Translations are managed in Crowdin.",
        "Translations are no longer loaded twice, use the cache.",
    ),
    ("The main branch is called master.", "We renamed the master table to customers."),
    ("Monitoring runs on Prometheus.", "The Prometheus exporter is replaced by our own."),
    ("We host the demo on Heroku.", "We host the docs on Fly.io now."),
    ("The log level is info.", "The log format is now JSON."),
    ("Tests run with Jest.", "The benchmarks run with hyperfine instead of a script."),
    ("Let the page move from left to right.", "We moved the button from left to right."),
    (
        "The invoice page shows 20 rows.",
        "The user moves from the invoice page to the payment page.",
    ),
];

#[test]
fn changes_in_everyday_words_replace_the_older_statement() {
    let missed: Vec<_> = AMENDED.iter().filter(|pair| !is_replaced(pair)).collect();
    assert!(missed.is_empty(), "{} {missed:#?}", missed.len());
}

#[test]
fn changes_of_other_things_in_everyday_words_replace_nothing() {
    let wrong: Vec<_> = BOTH_HOLD.iter().filter(|pair| is_replaced(pair)).collect();
    assert!(wrong.is_empty(), "{} {wrong:#?}", wrong.len());
}
