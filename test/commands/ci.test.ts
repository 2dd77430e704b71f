import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { comment, issue } from "../../src/commands/ci/reports.ts";
import type { Terminal } from "../../src/commands/terminal/terminal.ts";
import type { Clock } from "../../src/model/clock.ts";
import { isGraphformError } from "../../src/model/errors.ts";
import { settingsOf } from "../../src/project/settings.ts";
import { type Fault, type ForgeServer, startForge } from "../support/pipelines/forge-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { run } from "./harness.ts";

let forge: ForgeServer;
let folder = "";
let report = "";

beforeEach(async () => {
  forge = await startForge();
  folder = temporaryFolder("ci");
  report = join(folder, "report.md");
  writeFileSync(report, "<!-- graphform:plan name=shop -->\n\n## Plan for `shop`\n");
});
afterEach(async () => {
  await forge.close();
});

function token(permissions: object): string {
  return Buffer.from(JSON.stringify(permissions)).toString("base64url");
}

function github(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return {
    GITHUB_ACTIONS: "true",
    GITHUB_API_URL: forge.url,
    GITHUB_REPOSITORY: "acme/graphs",
    GITHUB_REF: "refs/pull/5/merge",
    GITHUB_TOKEN: token({ "pull-requests": "write", issues: "write" }),
    ...more,
  };
}

function gitlab(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return {
    GITLAB_CI: "true",
    CI_API_V4_URL: `${forge.url}/api/v4`,
    CI_PROJECT_ID: "7",
    CI_MERGE_REQUEST_IID: "5",
    GITLAB_TOKEN: "gitlab-token",
    ...more,
  };
}

describe.each([
  ["GitHub", github],
  ["GitLab", gitlab],
] as const)("on %s", (_, env) => {
  it("finds its comment behind a hundred others, by marker and author", async () => {
    const planted = "<!-- graphform:plan name=shop -->\n\nplanted";
    forge.comments.push(
      ...Array.from({ length: 130 }, (__, at) => ({ id: 1000 + at, body: planted, author: "stranger" })),
      { id: 1, body: "> <!-- graphform:plan name=shop -->\n\nquoted", author: "bot" },
      { id: 2, body: "<!-- graphform:plan name=shop-2 -->\n\nanother manifest", author: "bot" },
      { id: 3, body: "<!-- graphform:plan name=shop -->\r\n\r\nold", author: "bot" },
    );
    expect(await run(["ci", "comment", report], env())).toMatchObject({
      code: 0,
      out: "The comment was updated.\n",
    });
    expect(forge.comments).toHaveLength(133);
    const changed = forge.comments.filter(({ body }) => body.includes("## Plan for"));
    expect(changed).toEqual([
      { id: 3, author: "bot", body: "<!-- graphform:plan name=shop -->\n\n## Plan for `shop`\n" },
    ]);
  });

  it("has one comment for each key, also where there is no report", async () => {
    for (const key of ["envs/prod", "a--b"]) await run(["ci", "comment", report, "--key", key], env());
    writeFileSync(report, "<!-- graphform:plan name= -->\n\n## No plan\n");
    await run(["ci", "comment", report, "--key", "envs/prod"], env());
    await run(["ci", "comment", join(folder, "none.md"), "--key", "a--b"], env());
    expect(forge.comments.map(({ body }) => body)).toEqual([
      "<!-- graphform:plan name=envs%2Fprod -->\n\n## No plan\n",
      expect.stringMatching(/^<!-- graphform:plan name=a-%2Db -->\n\n\*\*The plan could not be made/),
    ]);
  });

  it("opens, updates and closes its own issue, and nobody else's", async () => {
    writeFileSync(report, "<!-- graphform:drift name=shop -->\n\nfound\n");
    const stranger = {
      number: 90,
      title: "Drift of shop",
      state: "open",
      labels: ["graphform-drift"],
    } as const;
    forge.issues.push({
      ...stranger,
      body: "<!-- graphform:drift name=shop -->\n\nmine",
      author: "stranger",
    });
    const issue = (code: string): Promise<{ code: number; out: string }> =>
      run(["ci", "issue", report, "--exitcode", code, "--key", "shop"], env());
    expect(await issue("0")).toMatchObject({ code: 0, out: "No drift, and no open issue.\n" });
    expect(await issue("2")).toMatchObject({ code: 0, out: "The issue was opened.\n" });
    expect(await issue("1")).toMatchObject({ code: 0, out: "Updated #2.\n" });
    expect(forge.issues[1]).toMatchObject({ title: "Drift of shop is not known", state: "open" });
    expect(await issue("")).toMatchObject({ code: 0, out: "Updated #2.\n" });
    expect(await issue("0")).toMatchObject({ code: 0, out: "Closed #2.\n" });
    expect(await issue("2")).toMatchObject({ code: 0, out: "The issue was opened.\n" });
    expect(forge.issues.map(({ state, author }) => [author, state])).toEqual([
      ["stranger", "open"],
      ["bot", "closed"],
      ["bot", "open"],
    ]);
  });
});

/** Runs `ci comment` or `ci issue` with a clock whose pauses are noted and not waited for. */
async function impatient(
  command: typeof comment,
  env: NodeJS.ProcessEnv,
  meanwhile: () => void = () => undefined,
): Promise<{ readonly said: string; readonly pauses: readonly number[] }> {
  const [said, pauses]: [string[], number[]] = [[], []];
  const terminal: Terminal = {
    out: (text) => void said.push(text),
    err: () => undefined,
    ...{ interactive: false, colour: false, width: 120 },
    confirm: async () => false,
  };
  const clock: Clock = {
    ...{ now: () => Date.parse("2026-01-01T00:00:00Z"), random: () => 0 },
    async sleep(ms) {
      pauses.push(ms);
      meanwhile();
    },
  };
  const settings = settingsOf(env);
  await command({ options: {}, settings, terminal, clock }, report).catch((error: unknown) => {
    said.push(isGraphformError(error) ? `${error.message} | ${error.hint}` : String(error));
  });
  return { said: said.join(""), pauses };
}

function drifted(exitcode: string): typeof comment {
  return ({ options, ...given }, file) => issue({ ...given, options: { ...options, exitcode } }, file);
}

describe.each([
  ["GitHub", github, "PATCH"],
  ["GitLab", gitlab, "PUT"],
] as const)("where %s fails", (name, env, edit) => {
  const cut = { work: "done", answer: "cut" } as const;
  const gone = { work: "not-done", answer: "cut" } as const;
  const down = { answer: { status: 502, body: "<html>Bad Gateway</html>" } } as const;

  it.each([
    ["the comment was made", [{ method: "POST", ...cut }]],
    ["the comment was not made", [{ method: "POST", ...gone }]],
    ["a proxy answered for the comment", [{ method: "POST", work: "done", ...down }]],
    [
      "the list was cut, too",
      [
        { method: "POST", ...cut },
        { method: "GET", ...gone },
        { method: "GET", ...cut },
      ],
    ],
  ] satisfies [string, Fault[]][])(
    "there is one comment and one issue although the answer is lost: %s",
    async (_, faults) => {
      forge.faults.push(...faults);
      expect((await impatient(comment, env())).said).toMatch(/^The comment was (added|updated)\.\n$/);
      expect(forge.comments).toHaveLength(1);
      expect(forge.comments[0]?.body).toContain("## Plan for");
      forge.faults.splice(0, 9, ...faults);
      expect((await impatient(drifted("2"), env())).said).toMatch(/^(The issue was opened|Updated #1)\.\n$/);
      expect(forge.issues).toHaveLength(1);
    },
  );

  it("writes its own text over a comment that another run made meanwhile", async () => {
    forge.faults.push({ method: "POST", ...gone });
    const other = {
      id: 7,
      author: "bot",
      body: "<!-- graphform:plan name=shop -->\n\nof the commit before\n",
    };
    await impatient(comment, env(), () => void forge.comments.push(other));
    expect(forge.comments.map(({ body }) => body)).toEqual([expect.stringContaining("## Plan for")]);
  });

  it("repeats what changes nothing when it is repeated", async () => {
    forge.comments.push({ id: 1, author: "bot", body: "<!-- graphform:plan name=shop -->\n\nold" });
    forge.faults.push(
      { method: "GET", ...gone },
      { method: "GET", work: "not-done", ...down },
      { method: "GET", work: "done", answer: { status: 200, body: "<html>log in</html>" } },
      { method: edit, ...cut },
      { method: edit, work: "not-done", ...down },
    );
    const { said, pauses } = await impatient(comment, env());
    expect(said).toBe("The comment was updated.\n");
    expect(pauses).toEqual([750, 1500, 3000, 750, 1500]);
    expect(forge.comments).toMatchObject([{ body: expect.stringContaining("## Plan for") }]);
  });

  it("waits as long as it is told to, and sends a refused addition again", async () => {
    const refusals = [
      { status: 429, body: {}, headers: { "retry-after": "9" } },
      { status: 429, body: {}, headers: { "retry-after": "Thu, 01 Jan 2026 00:00:11 GMT" } },
      {
        status: 403,
        body: { message: "You have exceeded a secondary rate limit" },
        headers: {
          "x-ratelimit-remaining": "0",
          "x-ratelimit-reset": String(Date.UTC(2026, 0, 1, 0, 0, 13) / 1000),
        },
      },
    ];
    forge.faults.push(...refusals.map((answer) => ({ method: "POST", work: "not-done", answer }) as const));
    const { said, pauses } = await impatient(comment, env());
    expect([said, pauses]).toEqual(["The comment was added.\n", [9000, 11_000, 13_000]]);
    expect(forge.comments).toHaveLength(1);
  });

  it("ends, in words, where it takes too long", async () => {
    const hour = { status: 429, body: { message: "slow down" }, headers: { "retry-after": "3600" } };
    forge.faults.push({ method: "POST", work: "not-done", answer: hour });
    expect(await impatient(comment, env())).toEqual({
      said: expect.stringMatching(/429: slow down \| too many requests with this token/),
      pauses: [],
    });
    forge.faults.push(...Array.from({ length: 9 }, () => ({ method: "GET", ...gone }) as const));
    const { said, pauses } = await impatient(comment, env());
    expect(said).toMatch(/^no answer to GET \S+ from 127\.0\.0\.1 \(\w+\) \| run the job again$/);
    expect(pauses).toHaveLength(4);
    expect(forge.comments).toEqual([]);
  });

  it("adds nothing where the list cannot be read", async () => {
    forge.faults.push({ method: "GET", work: "done", answer: { status: 200, body: { entries: [] } } });
    expect((await impatient(comment, env())).said).toContain("is not what the API promises");
    expect(forge.comments).toEqual([]);
    const { said } = await impatient(
      comment,
      name === "GitHub" ? env({ GITHUB_TOKEN: token({}) }) : env({ GITLAB_TOKEN: "no" }),
    );
    expect(said).toMatch(/^the token of this job may not do this: \S+ \S+: 403/);
  });
});

it("says of a pull request from a fork that its token may only read", async () => {
  const event = join(folder, "event.json");
  const head = { repo: { full_name: "stranger/graphs" } };
  writeFileSync(event, JSON.stringify({ pull_request: { number: 5, head } }));
  const env = github({ GITHUB_TOKEN: token({}), GITHUB_EVENT_PATH: event });
  const { said, pauses } = await impatient(comment, env);
  expect(said).toMatch(/403: Resource not accessible by integration \| the pull request comes from a fork/);
  expect(pauses).toEqual([]);
});

it.each([
  ["outside of a pipeline", () => ({}), "neither a job of GitHub Actions nor one of GitLab"],
  ["without a token", () => github({ GITHUB_TOKEN: "" }), "GITHUB_TOKEN: ${{ github.token }}"],
  [
    "without the permission",
    () => github({ GITHUB_TOKEN: token({}) }),
    "403: Resource not accessible by integration",
  ],
  ["for no pull request", () => github({ GITHUB_REF: "refs/heads/main" }), "does not run for a pull request"],
  ["for no merge request", () => gitlab({ CI_MERGE_REQUEST_IID: "" }), "does not run for a merge request"],
  ["with a wrong token", () => gitlab({ GITLAB_TOKEN: "another" }), "GITLAB_TOKEN needs the scope api"],
  [
    "over a network in clear text",
    () => github({ GITHUB_API_URL: "http://ghe.example" }),
    "in clear text to ghe.example",
  ],
])("a comment %s is refused with the way out, and without the token", async (_, env, message) => {
  const ran = await run(["ci", "comment", report], env());
  expect(ran).toMatchObject({ code: 1, err: expect.stringContaining(message) });
  for (const secret of [token({}), "another"]) if (secret.length > 4) expect(ran.err).not.toContain(secret);
});

it("refuses a report that no comment can hold", async () => {
  writeFileSync(report, "x".repeat(70_000));
  expect(await run(["ci", "comment", report], github())).toMatchObject({
    code: 1,
    err: expect.stringContaining("more than 65536 characters"),
  });
});
