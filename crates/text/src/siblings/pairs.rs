//! Pairs of an older and a newer statement: siblings, other facts in like words, and amendments. They were written
//! before the rule.

use crate::Statement;

fn is_replaced((old, new): &(&str, &str)) -> bool {
    Statement::of(new).replaces(&Statement::of(old)).is_some()
}

/// One says something of a thing, and the other one something of its sibling.
const SIBLINGS: &[(&str, &str)] = &[
    ("the basic plan costs 9 euros", "the premium plan costs 29 euros now"),
    ("The staging database has 2 GB of memory.", "The production database has 8 GB of memory now."),
    ("Read requests time out after 5 seconds.", "Write requests time out after 30 seconds now."),
    ("Frontend tests run with vitest.", "Backend tests run with pytest now."),
    (
        "The frontend caches responses for 5 minutes.",
        "The backend caches responses for 1 hour now.",
    ),
    ("The API in staging listens on port 8080.", "The API in production listens on port 9090 now."),
    ("Internal users log in with SSO.", "External users log in with a magic link now."),
    (
        "The iOS app sends crash reports to Sentry.",
        "The Android app sends crash reports to Crashlytics now.",
    ),
    (
        "The primary replica accepts writes from the API.",
        "The secondary replica accepts reads from the API now.",
    ),
    ("On Linux the watcher polls with epoll.", "On macOS the watcher polls with kqueue now."),
    ("Incoming webhooks retry 3 times.", "Outgoing webhooks retry 5 times now."),
    (
        "The public API allows 60 requests per minute.",
        "The partner API allows 600 requests per minute from now on.",
    ),
    ("Monthly invoices go to accounting.", "Yearly invoices go to the tax office now."),
    ("Unit tests block the merge.", "Integration tests block the release now."),
    ("The unit tests finish in 40 seconds.", "The browser tests finish in 9 minutes now."),
    ("The EU region stores data in Frankfurt.", "The US region stores data in Virginia now."),
    ("Guests see 10 products per page.", "Members see 50 products per page now."),
    ("The login page loads in 2 seconds.", "The checkout page loads in 4 seconds now."),
    ("The red team owns the parser.", "The blue team owns the lexer now."),
    ("Anna reviews the billing code.", "Ben reviews the shipping code from now on."),
    ("The orders table grows 2 GB per month.", "The events table grows 40 GB per month now."),
    ("Debug builds keep symbols.", "Release builds strip symbols now."),
    ("Access tokens live for one hour.", "Refresh tokens live for 30 days now."),
    ("The upload endpoint accepts 10 MB.", "The import endpoint accepts 200 MB now."),
    (
        "The small runner costs 4 cents per minute.",
        "The large runner costs 16 cents per minute now.",
    ),
    ("The daily digest goes out at 7 am.", "The weekly digest goes out at 9 am now."),
    ("The English docs live in docs/en.", "The German docs live in docs/de from now on."),
    ("The mobile client syncs every 15 minutes.", "The desktop client syncs every minute now."),
    ("Postgres keeps 7 backups.", "Redis keeps 2 backups now."),
    ("The admin role can delete projects.", "The editor role can archive projects now."),
    ("The invoice service logs to stdout.", "The payment service logs to a file now."),
    (
        "Silver customers get replies within a day.",
        "Gold customers get replies within an hour now.",
    ),
    ("The search index shards by tenant.", "The audit index shards by month now."),
    ("Push notifications expire after a day.", "Email notifications expire after a week now."),
    ("The parser uses 2 threads.", "The linker uses 8 threads now."),
    ("Soft deletes keep the row for 30 days.", "Hard deletes keep the row for 1 day now."),
    (
        "We decided: the read replica runs in zone a.",
        "From now on the write replica runs in zone b.",
    ),
    (
        "We decided to cache product pages for 5 minutes.",
        "Cache category pages for 20 minutes from now on.",
    ),
    (
        "The timeout of the importer is 30 seconds.",
        "The timeout of the exporter is 90 seconds now.",
    ),
    (
        "The limit for free accounts is 3 projects.",
        "The limit for paid accounts is 100 projects now.",
    ),
    (
        "Always sign release tags with the team key.",
        "From now on sign nightly tags with the bot key.",
    ),
    ("The queue for emails has 2 workers.", "The queue for thumbnails has 6 workers now."),
    ("The left sidebar is 240 px wide.", "The right sidebar is 320 px wide now."),
    ("Local builds use sccache.", "CI builds use the remote cache now."),
    ("Shard 1 holds the customers from A to M.", "Shard 2 holds the customers from N to Z now."),
    ("The v1 endpoint returns XML.", "The v2 endpoint returns JSON now."),
    ("Input files are read as latin-1.", "Output files are written as UTF-8 from now on."),
    ("Minimum password length is 8.", "Maximum password length is 128 now."),
    ("The customer portal is written in Svelte.", "The admin portal is written in React now."),
    ("The night shift starts at 22:00.", "The day shift starts at 6:00 now."),
    ("Deploys to staging happen on every push.", "Deploys to production happen on Tuesdays now."),
    ("Use Postgres for orders.", "Use Redis for carts from now on."),
    ("The docs site is built with Hugo.", "The blog site is built with Astro now."),
    ("The cart total is rounded half up.", "The cart tax is rounded down now."),
    ("Customer emails go through Postmark.", "Internal emails go through SES now."),
    ("The mobile team uses Jira for tickets.", "The web team uses Linear for tickets now."),
    ("The log level is info in staging.", "The log level is debug in production now."),
    ("Retries for payments: 3 at most.", "Retries for emails: 5 at most from now on."),
    ("We keep orders for 10 years.", "We keep carts for 30 days now."),
    ("Backups of the database run nightly.", "Backups of the uploads run weekly now."),
    ("The test timeout is 60 seconds.", "The lint timeout is 20 seconds now."),
    ("Python services use uv for packages.", "Node services use pnpm for packages now."),
    ("Prices for consumers include VAT.", "Prices for companies exclude VAT from now on."),
    ("The web app supports dark mode.", "The admin app supports dark mode now."),
    (
        "The scheduler leader renews its lease every 10 seconds.",
        "The scheduler follower polls the lease every 30 seconds now.",
    ),
    ("Team A deploys on Mondays.", "Team B deploys on Thursdays now."),
    ("The region eu-west-1 has 3 nodes.", "The region us-east-1 has 5 nodes now."),
    ("The free trial lasts 14 days.", "The student trial lasts 60 days now."),
    ("Access to the wiki needs SSO.", "Access to the vault needs a hardware key now."),
    ("For Windows we ship an MSI installer.", "For macOS we ship a DMG installer now."),
    (
        "Invoices over 1000 euros need two approvals.",
        "Invoices under 100 euros need one approval now.",
    ),
    ("Hotfixes skip the review.", "Features need two reviews now."),
    ("Writes go to the leader node.", "Reads go to the follower nodes from now on."),
    ("The Berlin office uses the old VPN.", "The Lisbon office uses the new VPN now."),
    ("Dev dependencies are pinned exactly.", "Runtime dependencies are pinned by range now."),
    ("Alice owns the payments module.", "Bob owns the search module now."),
    ("HTTP timeouts are 10 seconds.", "gRPC timeouts are 2 seconds now."),
    ("CSV exports are limited to 10000 rows.", "PDF exports are limited to 200 rows now."),
    (
        "The first reminder goes out after 3 days.",
        "The second reminder goes out after 10 days now.",
    ),
    ("The morning sync imports the orders.", "The evening sync imports the stock now."),
    (
        "We agreed: the web client retries twice.",
        "We agreed: the mobile client retries 5 times now.",
    ),
    ("We decided to store avatars in S3.", "From now on store invoices in S3 with versioning."),
    (
        "Decision: lint errors fail the build.",
        "New decision: lint warnings fail the nightly build, not the normal build.",
    ),
    ("Never deploy the api on Fridays.", "Deploy the docs on Fridays from now on."),
    ("Use UUIDs for user ids.", "Use integers for order ids instead of strings."),
    ("The worker queue holds 500 jobs.", "The mail queue holds 50 jobs now, 20 was too little."),
    ("Set the read timeout to 5 seconds.", "Change the write timeout to 30 seconds."),
    ("The page size of the order list is 50.", "The page size of the audit list is 100 now."),
    (
        "Sessions in the app expire after 30 minutes.",
        "Sessions in the admin area expire after 10 minutes now.",
    ),
    ("Postgres runs in version 15 on staging.", "Postgres runs in version 16 on production now."),
    ("We use gRPC between the services.", "We use REST between the app and the services now."),
    ("The nightly job deletes old exports.", "The hourly job deletes old previews now."),
];

/// The newer one has words of the older one, and is about something else.
const RED_HERRINGS: &[(&str, &str)] = &[
    ("Sessions are stored in Redis.", "The Redis dashboard shows the sessions now."),
    ("We deploy on Fridays.", "The deploy script prints the version now."),
    ("The import takes 9 minutes.", "The import page shows a spinner now."),
    ("Invoices are rendered by Typst.", "The invoices test renders with Typst in CI now."),
    ("The worker retries failed jobs 3 times.", "The worker dashboard lists failed jobs now."),
    ("Backups go to the second disk.", "The disk check warns about old backups now."),
    ("Prices are stored in cents.", "The price column is wider in the table now."),
    (
        "Feature flags live in the config table.",
        "The feature flag tests pass on the config branch now.",
    ),
    ("The API returns 404 for unknown ids.", "The API client logs unknown ids now."),
    ("Uploads go to S3.", "The upload button is blue now."),
    ("The changelog is written by hand.", "The changelog page has a search box now."),
    ("Log lines are JSON.", "The log viewer highlights JSON lines now."),
    ("Payments go through Stripe.", "The Stripe webhook test for payments is green now."),
    ("The cache lives in memcached.", "The cache hit rate is on the dashboard now."),
    ("Tokens expire after 15 minutes.", "The token test takes 15 seconds now."),
    ("Emails are sent with Postmark.", "The email preview uses the dark theme now."),
    ("The job queue uses RabbitMQ.", "The job queue docs mention RabbitMQ now."),
    ("Migrations run on startup.", "The startup log names the migrations now."),
];

/// The newer one changes the older one, in everyday words.
const AMENDMENTS: &[(&str, &str)] = &[
    ("the basic plan costs 9 euros", "the basic plan costs 12 euros now"),
    ("The staging database has 2 GB of memory.", "The staging database has 4 GB of memory now."),
    ("Backend tests run with unittest.", "Backend tests run with pytest now."),
    (
        "The public API allows 60 requests per minute.",
        "The public API allows 120 requests per minute from now on.",
    ),
    ("Monthly invoices go to accounting.", "Monthly invoices go to the sales team now."),
    ("The EU region stores data in Frankfurt.", "The EU region stores data in Dublin now."),
    ("The upload endpoint accepts 10 MB.", "The upload endpoint accepts 25 MB now."),
    ("The daily digest goes out at 7 am.", "The daily digest goes out at 8 am now."),
    ("The English docs live in docs/en.", "The English docs live in handbook/en from now on."),
    ("Postgres keeps 7 backups.", "Postgres keeps 14 backups now."),
    (
        "The timeout of the importer is 30 seconds.",
        "The timeout of the importer is 90 seconds now.",
    ),
    (
        "The limit for free accounts is 3 projects.",
        "The limit for free accounts is 5 projects now.",
    ),
    ("The left sidebar is 240 px wide.", "The left sidebar is 320 px wide now."),
    ("CI builds use sccache.", "CI builds use the remote cache now, not sccache."),
    ("Minimum password length is 8.", "Minimum password length is 12 now."),
    ("The customer portal is written in Svelte.", "The customer portal is written in React now."),
    ("The night shift starts at 22:00.", "The night shift starts at 21:30 now."),
    ("The repository of the docs is public.", "The repository of the docs is private now."),
    ("Release builds strip symbols.", "Release builds no longer strip symbols."),
];

#[test]
fn a_sibling_does_not_replace_a_statement() {
    let wrong: Vec<_> = SIBLINGS.iter().filter(|pair| is_replaced(pair)).collect();
    assert!(wrong.is_empty(), "{} {wrong:#?}", wrong.len());
}

#[test]
fn another_fact_in_like_words_does_not_replace_a_statement() {
    let wrong: Vec<_> = RED_HERRINGS.iter().filter(|pair| is_replaced(pair)).collect();
    assert!(wrong.is_empty(), "{} {wrong:#?}", wrong.len());
}

#[test]
fn a_statement_about_the_thing_itself_replaces_the_older_one() {
    let missed: Vec<_> = AMENDMENTS.iter().filter(|pair| !is_replaced(pair)).collect();
    assert!(missed.is_empty(), "{} {missed:#?}", missed.len());
}
