//! Pairs of an older and a newer statement. They were written before the rule was tuned, apart from the last list.

use crate::Statement;

fn is_replaced((old, new): &(&str, &str)) -> bool {
    Statement::of(new).replaces(&Statement::of(old)).is_some()
}

/// Two decisions about one thing, in like words: the newer one counts.
const PARALLEL: &[(&str, &str)] = &[
    (
        "We decided to use Terraform for the infrastructure.",
        "We decided to use Pulumi for the infrastructure.",
    ),
    ("Decision: the job queue uses RabbitMQ.", "Decision: the job queue uses NATS."),
    ("We agreed on Mapbox for the maps.", "We agreed on Leaflet for the maps."),
    ("Let's go with Material for the admin page.", "Let's go with Bootstrap for the admin page."),
    ("We'll use Auth0 for the login.", "We'll use Keycloak for the login."),
    ("We settled on Poetry for the dependencies.", "We settled on uv for the dependencies."),
    ("Let's decide: releases go out on Mondays.", "Let's decide: releases go out on Thursdays."),
    ("Always store prices in cents.", "Always store prices in euros as decimals."),
    (
        "We chose Elasticsearch for the product search.",
        "We chose Meilisearch for the product search.",
    ),
    (
        "From now on, write the commit messages in English.",
        "From now on, write the commit messages in German.",
    ),
    ("Use pnpm as the package manager.", "Use bun as the package manager."),
    (
        "Remember: images are stored in the uploads bucket.",
        "Remember: images are stored in the media bucket.",
    ),
    ("We decided to deploy with Ansible.", "We decided to deploy with Kamal."),
    ("Decision: the log format is JSON.", "Decision: the log format is logfmt."),
    (
        "The rule is: feature branches are merged by squash.",
        "The rule is: feature branches are merged by rebase.",
    ),
    ("Timestamps must always be UTC integers.", "Timestamps must always be RFC strings."),
    (
        "We decided that invoices are rendered by Typst.",
        "We decided that invoices are rendered by WeasyPrint.",
    ),
    ("I chose Svelte for the settings page.", "We chose React for the settings page."),
    ("Let's use zstd for the snapshots.", "Let's use lz4 for the snapshots."),
    ("Decision: sessions are stored in Redis.", "We decided: sessions are stored in Postgres."),
    ("We decided to go with Hugo for the handbook.", "We agreed to use Zola for the handbook."),
    (
        "Keep rendered reports for 10 days.",
        "Rendered reports should live 45 days, support needs them longer.",
    ),
    ("Access logs are kept for 60 days.", "Access logs should be deleted after 20 days."),
    ("Let the worker use 4 connections.", "The worker should use 12 connections."),
];

/// Decisions that are about different things, refine each other, or do not decide.
const BOTH_HOLD: &[(&str, &str)] = &[
    (
        "We decided to use Terraform for the infrastructure.",
        "We decided to use Terraform for the DNS records.",
    ),
    (
        "We decided to use Terraform for the infrastructure.",
        "We also decided to use Helm for the infrastructure.",
    ),
    ("We agreed on Mapbox for the maps.", "We agreed on Algolia for the search."),
    ("Decision: the job queue uses RabbitMQ.", "Decision: the job queue uses 4 workers."),
    ("Let's decide: releases go out on Mondays.", "Let's decide: hotfixes go out on Fridays."),
    ("Nightly backups run at 02:00.", "Weekly backups run at 04:00 now."),
    ("From now on we deploy the api on Tuesdays.", "From now on we deploy the docs on Wednesdays."),
    (
        "Use camelCase for names in TypeScript from now on.",
        "Use snake_case for names in the database from now on.",
    ),
    (
        "We decided to use pytest for the unit tests.",
        "We decided to use Playwright for the browser tests.",
    ),
    ("We decided to run the linter before commits.", "We decided to run the tests before commits."),
    ("Always write tests in Rust.", "Always write docs in English."),
    ("We agreed to keep backups for 30 days.", "We agreed to keep backups on the second disk."),
    (
        "The rule is: two approvals per pull request.",
        "The rule is: one changelog entry per pull request.",
    ),
    (
        "Remember: timestamps are UTC integers.",
        "Remember: timestamps are shown in the user's zone.",
    ),
    ("Remember: the deploy key is in the vault.", "Remember: the deploy key is rotated in March."),
    ("We'll use Sentry for errors in the app.", "We'll use Rollbar for errors in the worker."),
    ("Let's use zstd for the snapshots.", "Let's use zstd level 19 for the snapshots."),
    (
        "We decided: the API is versioned by header.",
        "We decided: the API is documented by OpenAPI.",
    ),
    ("We chose Postgres for the orders.", "We chose Postgres for the orders, Redis for the carts."),
    ("We decided to use Stripe for payments.", "Should we use Adyen for payments?"),
    ("We decided to use Stripe for payments.", "We decided to use Adyen for payments in Brazil."),
    (
        "We decided to use Stripe for payments.",
        "We decided to use Adyen for payments if Stripe is down.",
    ),
    ("Keep user sessions for 14 days.", "Keep user exports for 30 days."),
    ("Keep user sessions for 14 days.", "User sessions should have at least 128 bits."),
    (
        "We decided to use Celery for background jobs.",
        "We decided against Kafka for background jobs.",
    ),
    ("We decided to use tabs in Makefiles.", "We decided to use spaces in Python files."),
    ("Decision: admins can delete users.", "Decision: admins can export users."),
    (
        "We decided to add a cache for the product list.",
        "We decided to add an index for the product list.",
    ),
    (
        "We agreed on two reviewers for the billing code.",
        "We agreed on a freeze for the billing code.",
    ),
    ("We'll use Redis for caching.", "We'll use a TTL of 5 minutes for caching."),
    ("We decided: the API is public.", "We decided: the API is versioned."),
    ("Let's switch to the multi-arch image.", "Let's switch to vitest, jest is gone."),
    ("Let's compare with the old compiler.", "Let's compare with their delivery log."),
    ("Always send a key with each attempt.", "Always send a key with the payment form."),
];

/// Work that follows from a decision and agrees with it.
const TIDIED_UP: &[(&str, &str)] = &[
    (
        "Switch the websocket subprotocol to msgpack, JSON is too slow on phones.",
        "Drop the v1 json websocket subprotocol",
    ),
    (
        "Use argon2 instead of bcrypt for password hashes.",
        "Drop the bcrypt password hashes after the migration",
    ),
    ("The mailer uses Postmark now, SendGrid was too slow.", "Drop the SendGrid mailer"),
    ("We moved the carts from Redis to Postgres.", "Drop the Redis carts"),
    (
        "We use Vite for the frontend now, webpack was too slow.",
        "scrap the webpack config of the frontend",
    ),
    (
        "Decided: date-fns rather than moment for dates in the frontend.",
        "forget moment for dates, the frontend is done",
    ),
    ("Never use floats for the prices in the cart.", "Drop the floats of the prices in the cart"),
    ("We decided to use gRPC for the sync, not REST.", "ditch the REST sync of the old client"),
    (
        "Move the feature flags from LaunchDarkly into our config table.",
        "drop the LaunchDarkly feature flags",
    ),
    (
        "The tile server no longer uses Varnish, nginx caches the tiles.",
        "Drop the Varnish tile server",
    ),
];

/// The newer one rejects what the older one chose.
const TAKEN_BACK: &[(&str, &str)] = &[
    (
        "Switch the websocket subprotocol to msgpack, JSON is too slow on phones.",
        "Drop msgpack for the websocket subprotocol",
    ),
    (
        "Use argon2 instead of bcrypt for password hashes.",
        "Drop argon2, scrypt is enough for password hashes",
    ),
    (
        "The mailer uses Postmark now, SendGrid was too slow.",
        "Ditch Postmark, the mailer goes through SES",
    ),
    ("We moved the carts from Redis to Postgres.", "moving the carts to Postgres was a mistake"),
];

#[test]
fn of_two_decisions_about_one_thing_the_newer_replaces_the_older() {
    let missed: Vec<_> = PARALLEL.iter().filter(|pair| !is_replaced(pair)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    let itself: Vec<_> = PARALLEL.iter().filter(|(old, _)| is_replaced(&(old, old))).collect();
    assert!(itself.is_empty(), "{itself:#?}");
}

#[test]
fn decisions_that_both_hold_replace_nothing() {
    let wrong: Vec<_> = BOTH_HOLD.iter().filter(|pair| is_replaced(pair)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn tidying_up_after_a_decision_does_not_replace_it() {
    let wrong: Vec<_> = TIDIED_UP.iter().filter(|pair| is_replaced(pair)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn rejecting_what_was_chosen_replaces_the_decision() {
    let missed: Vec<_> = TAKEN_BACK.iter().filter(|pair| !is_replaced(pair)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}
