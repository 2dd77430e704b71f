import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ForgeServer, startForge } from "../support/pipelines/forge-server.ts";
import { run } from "./harness.ts";

let forge: ForgeServer;
let folder = "";
let report = "";

beforeEach(async () => {
  forge = await startForge();
  folder = mkdtempSync(join(tmpdir(), "graphform-ci-"));
  report = join(folder, "report.md");
  writeFileSync(report, "<!-- graphform:plan name=shop -->\n\n## Plan for `shop`\n");
});
afterEach(async () => {
  await forge.close();
  rmSync(folder, { recursive: true });
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
  [
    "where nobody answers",
    () => github({ GITHUB_API_URL: "http://127.0.0.1:1" }),
    "no answer to GET /repos/acme/graphs",
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
