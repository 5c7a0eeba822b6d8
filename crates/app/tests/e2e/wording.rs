//! Messages for users are correct: counts, pages, pauses, and project names that are not unique.

use serde_json::json;
use testkit::Home;

use super::home;

fn prompt(home: &Home, dir: &str, session: &str, text: &str) {
    let cwd = home.path(dir);
    std::fs::create_dir_all(&cwd).unwrap();
    let event = json!({ "session_id": session, "cwd": cwd, "prompt": text });
    home.hook("UserPromptSubmit", &event);
}

/// @search_counts
#[test]
fn a_search_says_how_many_results_there_are_and_whether_there_are_more() {
    let home = home();
    for (number, word) in ["otter", "heron", "stork", "eagle", "crane"].iter().enumerate() {
        prompt(&home, "web", &format!("s-{number}"), &format!("zebra {word}"));
    }
    let search = |more: &[&str]| {
        let run = home.run(&[&["search", "--project", "*"], more].concat());
        assert_eq!(run.code, 0, "{run:?}");
        (run.stdout, run.stderr)
    };
    assert_eq!(search(&["otter"]).1, "1 result for \"otter\"\n");
    assert_eq!(search(&["zebra"]).1, "5 results for \"zebra\"\n");
    let (page, said) = search(&["zebra", "--limit", "3"]);
    assert!(page.lines().skip(1).all(|line| line.starts_with('#')), "{page}");
    assert_eq!(said, "3 results for \"zebra\"; --offset 3 shows more\n");
    let (past, said) = search(&["zebra", "--offset", "9"]);
    assert!(past.starts_with("No results for \"zebra\" from offset 9 on"), "{past}");
    assert_eq!(said, "0 results for \"zebra\" from offset 9 on\n");
}

/// @project_shared_name
#[test]
fn a_project_name_that_two_projects_share_is_reported() {
    let home = home();
    for (dir, session) in [("one/web", "s-one"), ("two/web", "s-two")] {
        prompt(&home, dir, session, &format!("zebra in {dir}"));
    }
    let paths = ["one/web", "two/web"].map(|dir| home.path(dir).to_string_lossy().into_owned());
    for args in [&["search", "zebra"][..], &["search", "numbat"], &["briefing"]] {
        let said = home.run(&[args, &["--project", "web"]].concat()).ok();
        assert!(said.contains("2 projects are called web: /"), "{said}");
        assert!(paths.iter().all(|path| said.contains(path)), "{said}");
        assert!(said.contains("`rekindle project list` shows their paths"), "{said}");
    }
    let one = home.run(&["search", "zebra", "--project", &paths[0]]).ok();
    assert!(!one.contains("projects are called"), "{one}");
}

/// @pause_everywhere
#[test]
fn ending_a_pause_that_does_not_exist_says_so() {
    let home = home();
    prompt(&home, "web", "s-1", "zebra");
    home.run(&["search", "zebra", "--project", "*"]).ok();
    let off = home.run(&["pause", "off", "--project", "web"]).ok();
    assert_eq!(off, "web was not paused\n");
    let off = home.run(&["pause", "off"]).ok();
    assert_eq!(off, "there was no pause of all projects\n");
    home.run(&["pause", "--project", "web"]).ok();
    let off = home.run(&["pause", "off"]).ok();
    let web = home.path("web");
    let held = format!("there was no pause of all projects\npaused in {} until", web.display());
    assert!(off.starts_with(&held), "{off}");
    assert_eq!(home.run(&["pause", "off", "--project", "web"]).ok(), "capture resumed in web\n");
}

/// @search_counts
#[test]
fn a_limit_out_of_range_and_an_empty_query_say_what_to_do() {
    let home = home();
    for number in 0..101 {
        prompt(&home, "web", "s-1", &format!("zebra number {number}"));
    }
    let said = |args: &[&str]| {
        let run = home.run(&[args, &["--project", "*"]].concat());
        assert_eq!(run.code, 0, "{run:?}");
        assert!(!run.stdout.contains("limit"), "{run:?}");
        // The time of the oldest record.
        let time = run.stderr.split("--before ").nth(1).and_then(|rest| rest.split(' ').next());
        run.stderr.replace(time.unwrap_or("none"), "TIME")
    };
    let older = "100 records; --before TIME shows older ones\n";
    let reduced = format!("{older}--limit 500 was reduced to 100, the maximum\n");
    assert_eq!(said(&["recent", "--limit", "500"]), reduced);
    assert_eq!(said(&["recent", "--limit", "100"]), older);
    assert!(said(&["recent", "--limit", "0"]).ends_with("the smallest --limit is 1\n"));
    let reduced = "--limit 500 was reduced to 100, the maximum\n";
    assert!(said(&["search", "zebra", "--limit", "500"]).ends_with(reduced));
    assert_eq!(said(&["sessions"]), "1 session\n");
    for command in [&["search"][..], &["similar"], &["memory", "find"], &["ghap", "search"]] {
        let nothing = home.run(&[command, &[" ", "--project", "*"]].concat());
        assert_eq!((nothing.code, nothing.stdout.as_str()), (1, ""), "{nothing:?}");
        assert!(nothing.stderr.contains("hint: Type the words to search for."), "{nothing:?}");
    }
}

/// @after_and_before
#[test]
fn a_time_that_ends_before_it_begins_is_refused() {
    let home = home();
    prompt(&home, "web", "s-1", "zebra");
    home.run(&["links", "nmem"]).ok();
    let commands =
        [&["search", "zebra"][..], &["recent"], &["sessions"], &["summaries"], &["trace", "s-1"]];
    for command in commands {
        let given = |after: &str, before: &str| {
            home.run(&[command, &["--after", after, "--before", before]].concat())
        };
        let run = given("today", "yesterday");
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{command:?}: {run:?}");
        let told = "error: --after today is later than --before yesterday\n";
        assert!(run.stderr.starts_with(told), "{command:?}: {run:?}");
        assert_eq!(given("yesterday", "now").code, 0, "{command:?}");
    }
    let line = ["search", "zebra", "--after", "today", "--before", "yesterday", "--json"];
    let error = home.run(&line).json();
    assert_eq!(error["error"]["data"]["param"], "after", "{error}");
}

/// @errors_in_the_words_of_the_surface
#[test]
fn a_wrong_id_among_several_is_reported_in_the_words_of_the_command_line() {
    let home = home();
    prompt(&home, "web", "s-1", "zebra");
    let run = home.run(&["show", "#1", "#abc"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.starts_with("error: IDS: '#abc' is not the id of a record"), "{run:?}");
    assert!(run.stderr.contains("See `rekindle show --help`"), "{run:?}");
    assert!(!run.stderr.contains("parameter") && !run.stderr.contains("ops"), "{run:?}");
}
