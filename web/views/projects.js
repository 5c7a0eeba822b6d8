// Projects and control: sizes, aliases, merge, split, pauses, and purging records.

import { call } from "/api.js";
import { ask, confirm, problem, toast } from "/dialog.js";
import { entryLink, h, link, replace } from "/dom.js";
import { dayAndTime, now, number, plural, time, visible } from "/format.js";
import { onNotification } from "/live.js";
import {
  asRow,
  button,
  empty,
  field,
  fill,
  input,
  intro,
  section,
  select,
  table,
  typeBadge,
  TYPES,
  values,
  undoable,
} from "/parts.js";

const PAUSES = [
  ["30m", "for 30 minutes"],
  ["2h", "for 2 hours"],
  ["1d", "for a day"],
  ["", "until I resume it"],
];

/** Tells the shell that pauses or projects have changed: it shows them on every view. */
const changed = () => document.dispatchEvent(new CustomEvent("rekindle:status"));

/** The pauses by the path of their project; "" is everywhere. */
const pausesOf = (status) => new Map((status.pauses ?? []).map((pause) => [pause.project ?? "", pause]));

/** Until when a pause lasts, as the end of a sentence. */
const untilText = ({ ends_at: end }) => [" until ", end ? time(end, dayAndTime) : "you resume it"];

const pausedNotice = (held) =>
  h("p", { class: "notice" }, held.ends_at ? ["Paused", untilText(held), "."] : "Not recorded until you resume it.");

/** The duration that is left of a pause, for Undo; undefined for a pause without an end. */
function rest({ ends_at: end }) {
  const minutes = end ? Math.ceil((end * 1000 - now()) / 60_000) : NaN;
  return minutes > 0 ? `${minutes}m` : undefined;
}

/** The pause that holds now for a project, or everywhere. */
const heldNow = async (project) => pausesOf(await call("status")).get(project?.path ?? "");

const whose = (project) => (project ? `in ${project.name}` : "everywhere");

async function pause(project, duration, reload, text) {
  const where = project ? { project: project.path } : {};
  await run(async () => {
    await call("pause", { ...where, duration: duration || undefined });
    const mine = await heldNow(project);
    await reload();
    undoable(text ?? `Paused ${whose(project)}.`, async () => {
      if ((await heldNow(project))?.ends_at !== mine?.ends_at) throw new Error("The pause was changed meanwhile, and stays so.");
      await call("pause", { ...where, duration: "off" });
      await reload();
    });
  });
}

async function resume(project, held, reload) {
  const where = project ? { project: project.path } : {};
  await run(async () => {
    await call("pause", { ...where, duration: "off" });
    await reload();
    undoable(`Recording ${whose(project)} again.`, async () => {
      if (await heldNow(project)) throw new Error("It was paused again meanwhile, and stays so.");
      await call("pause", { ...where, duration: rest(held) });
      await reload();
    });
  });
}

/** Runs a change; a refusal is shown as a notice. */
async function run(action) {
  try {
    await action();
  } catch (error) {
    if (error.name !== "AbortError")
      toast(error.hint ? `${error.message}. ${error.hint}` : error.message, { stay: true });
  }
}

/** The control of a pause: its state, and the ways to start or end it. */
function pauseControl(project, pauses, reload) {
  const name = project?.name ?? "";
  const label = project ? `Pause ${name}` : "Pause everywhere";
  const held = pauses.get(project?.path ?? "");
  if (held) {
    return h(
      "div",
      { class: "toolbar" },
      h("strong", {}, "Paused", untilText(held)),
      button("Resume", () => resume(project, held, reload), { "aria-label": `Resume ${name || "everywhere"}` }),
    );
  }
  const choice = select("duration", PAUSES, "30m", { "aria-label": `${label}: how long`, class: "field" });
  return h(
    "div",
    { class: "toolbar" },
    choice,
    button("Pause", () => pause(project, choice.value, reload), { "aria-label": label }),
    project
      ? button("Never record", () => pause(project, "", reload, `${name} is not recorded until you resume it.`), {
          "aria-label": `Never record ${name}`,
        })
      : null,
  );
}

async function addAlias(project, reload) {
  const alias = await ask({
    title: `Another name for ${project.name}`,
    label: "A directory, a remote or a name that leads to this project.",
    yes: "Add",
  });
  if (!alias?.trim()) return;
  await run(async () => {
    const { project: changed } = await call("alias_project", { project: project.path, alias: alias.trim() });
    await reload();
    // The store writes a remote in its normal form.
    const added = changed.aliases.filter((one) => !project.aliases.includes(one));
    undoable(`${alias.trim()} leads to ${project.name} now.`, async () => {
      for (const one of added) await call("unalias_project", { project: project.path, alias: one });
      await reload();
    });
  });
}

async function removeAlias(project, alias, reload) {
  await run(async () => {
    await call("unalias_project", { project: project.path, alias });
    await reload();
    undoable(`${alias} no longer leads to ${project.name}.`, async () => {
      await call("alias_project", { project: project.path, alias });
      await reload();
    });
  });
}

/** Asks for the other project of a merge. */
function chooseProject(project, projects) {
  return new Promise((resolve) => {
    const others = projects.filter((one) => one.path !== project.path);
    const choice = select(
      "into",
      others.map((one) => [one.path, `${one.name} (${one.root ?? one.path})`]),
    );
    const dialog = h(
      "dialog",
      { class: "dialog", "aria-labelledby": "merge-title" },
      h(
        "form",
        { method: "dialog" },
        h("h2", { id: "merge-title" }, `Merge ${project.name} into another project`),
        h(
          "p",
          {},
          `The other project gets ${plural(project.sessions, "session")} ` +
            `and ${plural(recordsOf(project), "record")}. ${project.name} ends.`,
        ),
        h(
          "p",
          { class: "muted" },
          project.root
            ? "Undo splits its root off again; names and remotes that led to it stay with the other project."
            : "This cannot be undone: the project has no directory that could be split off again.",
        ),
        field("Merge into", choice),
        h(
          "div",
          { class: "dialog-buttons" },
          h("button", { type: "submit", value: "no", class: "button" }, "Cancel"),
          h("button", { type: "submit", value: "yes", class: "button button-danger" }, "Merge"),
        ),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes" ? others.find((one) => one.path === choice.value) : null);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

async function merge(project, projects, reload) {
  const into = await chooseProject(project, projects);
  if (!into) return;
  await run(async () => {
    const { moved } = await call("merge_projects", { from: project.path, into: into.path });
    await reload();
    const done = `${plural(moved?.sessions ?? 0, "session")} moved to ${into.name}.`;
    if (!project.root) return toast(done);
    undoable(done, async () => {
      await call("split_project", { project: into.path, root: project.root });
      await reload();
    });
  });
}

async function split(project, root, reload) {
  const yes = await confirm({
    title: `Make ${root} a project of its own?`,
    text: `The sessions that began there leave ${project.name} with all their records. Undo merges them again.`,
    yes: "Split",
  });
  if (!yes) return;
  await run(async () => {
    const { project: made } = await call("split_project", { project: project.path, root });
    await reload();
    undoable(`${made.name} is a project of its own.`, async () => {
      await call("merge_projects", { from: made.path, into: project.path });
      await reload();
    });
  });
}

/** All records of a project: prompts are records, too. */
const recordsOf = (project) => project.observations + project.prompts;

/** The roots of a project: aliases that are directories. */
const roots = (project) => project.aliases.filter((alias) => alias.startsWith("/"));

function projectCard(project, projects, pauses, reload) {
  const several = roots(project).length > 1;
  return h(
    "li",
    { class: "card project" },
    h(
      "div",
      { class: "project-head" },
      h(
        "div",
        {},
        h("h2", { class: "break" }, project.name),
        h("p", { class: "muted mono break" }, project.root ?? project.path),
      ),
      h(
        "ul",
        { class: "figures" },
        h("li", {}, h("strong", {}, number(recordsOf(project))), h("span", { class: "muted" }, "records")),
        h("li", {}, h("strong", {}, number(project.prompts)), h("span", { class: "muted" }, "of them prompts")),
        h("li", {}, h("strong", {}, number(project.sessions)), h("span", { class: "muted" }, "sessions")),
        h(
          "li",
          {},
          h("strong", {}, project.last_at ? time(project.last_at) : "never"),
          h("span", { class: "muted" }, "last activity"),
        ),
      ),
    ),
    h(
      "div",
      { class: "toolbar" },
      link({ view: "timeline", project: project.path }, "Timeline"),
      link({ view: "sessions", project: project.path }, "Sessions"),
      entryLink(project.path, "Details"),
    ),
    h(
      "details",
      {},
      h("summary", { "aria-label": `Manage ${visible(project.name)}` }, "Manage"),
      h(
        "div",
        { class: "manage" },
        h("h3", {}, "Recording"),
        pauseControl(project, pauses, reload),
        h("h3", {}, "Leads here"),
        h(
          "ul",
          { class: "plain-list" },
          project.aliases.map((alias) =>
            h(
              "li",
              { class: "toolbar" },
              h("code", { class: "break" }, alias),
              several && alias.startsWith("/") && alias !== project.root
                ? button("Split off…", () => split(project, alias, reload), {
                    class: "button button-quiet",
                    "aria-label": `Split off ${visible(alias)}`,
                  })
                : null,
              alias !== project.root &&
                button("Remove", () => removeAlias(project, alias, reload), {
                  class: "button button-quiet",
                  "aria-label": `Remove the alias ${visible(alias)}`,
                }),
            ),
          ),
        ),
        h(
          "div",
          { class: "toolbar" },
          button("Add an alias…", () => addAlias(project, reload), {
            "aria-label": `Add an alias of ${visible(project.name)}`,
          }),
          projects.length > 1
            ? button("Merge into…", () => merge(project, projects, reload), {
                "aria-label": `Merge into another project: ${visible(project.name)}`,
              })
            : null,
          link({ view: "projects", purge: "1", project: project.path }, "Purge records…", {
            class: "button button-danger",
          }),
        ),
      ),
    ),
    pauses.has(project.path) ? pausedNotice(pauses.get(project.path)) : null,
  );
}

const others = (result) => Object.values(result.others ?? {}).reduce((sum, amount) => sum + amount, 0);
const total = (result) => result.observations + result.prompts + others(result);

/** What a purge deletes, keeps, and leaves in copies. */
function purgeReport(result) {
  const lines = [
    [result.prompts, "prompt"],
    [result.observations, result.prompts > 0 ? "other record" : "record"],
    ...Object.entries(result.others ?? {}).map(([name, amount]) => [amount, name, name]),
    [result.sessions, "session of which nothing is left", "sessions of which nothing is left"],
    [result.summaries, "summary that is written again", "summaries that are written again"],
    [result.projects, "project that is forgotten", "projects that are forgotten"],
    [result.notes ?? 0, "receipt or notice", "receipts or notices"],
  ].filter(([amount]) => amount > 0);
  const stays = [
    [
      result.near_misses,
      "other record contains a searched word inside a longer one",
      "other records contain a searched word inside a longer one",
    ],
    [result.hints_left, "hint contains the text", "hints contain the text"],
    [result.projects_left, "project is named like this", "projects are named like this"],
  ].filter(([amount]) => amount > 0);
  return h(
    "div",
    { class: "report" },
    h(
      "ul",
      {},
      lines.map(([amount, one, many]) => h("li", {}, plural(amount, one, many))),
    ),
    stays.length
      ? [
          h("h3", {}, "Not deleted"),
          h(
            "ul",
            {},
            stays.map(([amount, one, many]) => h("li", {}, plural(amount, one, many))),
          ),
        ]
      : null,
    result.copies_left?.length
      ? [
          h("h3", {}, "Copies that may contain the records"),
          h(
            "ul",
            {},
            result.copies_left.map((file) => h("li", {}, h("code", { class: "break" }, file))),
          ),
        ]
      : null,
    result.spool_files?.length
      ? [
          h("h3", {}, "Files of the spool that are deleted"),
          h(
            "ul",
            {},
            result.spool_files.map((file) => h("li", {}, h("code", { class: "break" }, file))),
          ),
        ]
      : null,
    result.spool_files_left?.length
      ? [
          h("h3", {}, "Files of the spool that stay"),
          h(
            "ul",
            {},
            result.spool_files_left.map((file) => h("li", {}, h("code", { class: "break" }, file))),
          ),
        ]
      : null,
  );
}

function samples(result) {
  if (!result.samples?.length) return null;
  return [
    h("h3", {}, "Some of them"),
    table(
      "Samples of the records that would be deleted",
      [
        { title: "Record", cell: (one) => entryLink(`obs://${one.id}`, `#${one.id}`) },
        { title: "Type", cell: (one) => typeBadge(one.obs_type) },
        { title: "Time", cell: (one) => time(one.timestamp) },
        { title: "Project", cell: (one) => one.project },
        { title: "Text", wide: true, cell: (one) => one.content_preview },
      ],
      result.samples,
    ),
  ];
}

/** The parameters of `purge` for the values of the form. */
function purgeRequest(given) {
  const asked = {};
  for (const name of ["project", "obs_type", "session_id", "before", "search", "literal"]) {
    if (given[name]) asked[name] = given[name];
  }
  if (given.older_than) asked.older_than = Number(given.older_than);
  if (given.ids) {
    const ids = given.ids.split(/[\s,]+/).filter(Boolean);
    asked.ids = ids.map((id) => Number(/^(?:#|obs:\/\/)?(\d+)$/.exec(id)?.[1]));
    const wrong = ids.find((_, at) => Number.isNaN(asked.ids[at]));
    if (wrong) throw new Error(`“${wrong}” is no record. Write numbers such as 3, #14 or obs://15.`);
  }
  return asked;
}

function purgeCard(projects, filters, reload, focus) {
  const project = select("project", [["", "All projects"], ...projects.map((one) => [one.path, one.name])]);
  const chosen = projects.find((one) => one.path === filters.project || one.name === filters.project);
  project.value = chosen?.path ?? "";
  const search = input("search", "", { placeholder: "whole words" });
  const place = h("div", { class: "report", "aria-live": "polite" });
  const form = h(
    "form",
    {
      onsubmit: async (event) => {
        event.preventDefault();
        let asked;
        try {
          asked = purgeRequest(values(form));
          if (!Object.keys(asked).length)
            throw new Error("Choose at least one filter: without one, everything would be deleted.");
        } catch (error) {
          replace(place, problem(error));
          return;
        }
        await fill(replace(place), async () => {
          const result = await call("purge", asked);
          const amount = total(result);
          if (!amount && !result.sessions && !result.projects && !(result.notes > 0) && !result.spool_files?.length) {
            return [h("p", { class: "notice" }, "Nothing matches all of these filters."), purgeReport(result)];
          }
          const remove = button(`Delete ${plural(amount, "record")}…`, () => purge(asked, result, remove), {
            class: "button button-danger",
          });
          return [
            h("h3", {}, "This would be deleted"),
            purgeReport(result),
            samples(result),
            h("div", { class: "toolbar" }, remove),
          ];
        });
      },
    },
    h(
      "p",
      { class: "muted" },
      "Deletes the records that match all filters, for good. First you see how many there are; " +
        "nothing is deleted before you confirm.",
    ),
    h(
      "div",
      { class: "form-grid" },
      field("Project", project),
      field("Contains the words", search),
      field("Contains exactly", input("literal", "", { placeholder: "at least 4 characters" })),
      field("Type", select("obs_type", [["", "Any type"], ...Object.entries(TYPES)])),
      field("Session", input("session_id")),
      field("Before", input("before", "", { placeholder: "2026-11-01 or 3d" })),
      field("Older than (days)", input("older_than", "", { type: "number", min: 0 })),
      field("Records", input("ids", "", { placeholder: "3, 14, 15" })),
    ),
    h("div", { class: "toolbar" }, h("button", { type: "submit", class: "button" }, "Count what would be deleted")),
    place,
  );

  const purge = async (asked, counted, control) => {
    const amount = total(counted);
    const yes = await confirm({
      title: `Delete ${plural(amount, "record")}?`,
      text: [
        h("p", {}, h("strong", {}, "This cannot be undone. "), "The records are overwritten in the database file."),
        purgeReport(counted),
      ],
      number: amount,
      danger: true,
    });
    if (!yes) return;
    control.disabled = true;
    replace(place, h("p", { class: "muted loading" }, "Deleting…"));
    try {
      const result = await call("purge", { ...asked, confirm: true, expected: amount });
      await reload();
      replace(
        place,
        h("p", { class: "notice", role: "status" }, `${plural(total(result), "record")} deleted.`),
        purgeReport(result),
      );
    } catch (error) {
      // A deletion is never sent again unseen: what matches now is counted first.
      const again = button("Count again", () => form.requestSubmit());
      replace(place, problem(error, h("div", { class: "toolbar" }, again)));
    }
  };

  const card = section("Purge", form);
  card.id = "purge";
  if (focus) {
    requestAnimationFrame(() => {
      card.scrollIntoView({ block: "start" });
      search.focus({ preventScroll: true });
    });
  }
  return card;
}

export async function open(root, { params, filters, signal }) {
  const list = h("div", {});
  const everywhere = h("div", {});
  const purgePlace = h("div", {});
  replace(
    root,
    intro("What is recorded, for which projects, and how to stop, sort or delete it."),
    everywhere,
    list,
    purgePlace,
  );
  let projects = [];
  const opened = () =>
    new Set([...list.querySelectorAll("details[open]")].map((one) => one.closest("li").dataset.path));
  const reload = async () => {
    changed();
    const wereOpen = opened();
    await fill(list, async () => {
      // A large store counts its projects for a moment; a pause can be begun meanwhile.
      const listing = call("list_projects", {}, { signal });
      listing.catch(() => {});
      const pauses = pausesOf(await call("status", {}, { signal }));
      replace(
        everywhere,
        section(
          "Recording",
          h(
            "p",
            { class: "muted" },
            "During a pause no event is recorded and agents get no text. Records can still be searched.",
          ),
          pauseControl(null, pauses, reload),
        ),
      );
      ({ projects } = await listing);
      if (!projects.length) {
        return empty("No projects yet", "A project appears with the first session of a connected agent.", [
          "How to connect one is in ",
          link({ view: "health" }, "Health"),
          ".",
        ]);
      }
      return h(
        "ul",
        { class: "hits" },
        projects.map((project) => {
          const card = asRow(projectCard(project, projects, pauses, reload));
          card.dataset.path = project.path;
          if (wereOpen.has(project.path)) card.querySelector("details").open = true;
          return card;
        }),
      );
    });
  };
  await reload();
  const showPurge = (now, shared) => replace(purgePlace, purgeCard(projects, shared, reload, now.has("purge")));
  showPurge(params, filters);
  let asked = params.toString();
  // Another page or a command may begin or end a pause.
  const unlisten = onNotification("pause/changed", () => reload());
  return {
    close: unlisten,
    refresh: reload,
    update: (now, shared) => {
      // A link to this view keeps what is typed in the form.
      if (now.toString() === asked) return reload();
      asked = now.toString();
      return showPurge(now, shared);
    },
  };
}
