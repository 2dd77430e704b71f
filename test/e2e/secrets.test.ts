import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { cloudBench } from "../commands/cloud-bench.ts";
import { FakeService } from "../support/fake-service.ts";
import { platformUp } from "../support/local-platform.ts";
import { quickProfile, quickProfileFile } from "../support/quick-profile.ts";
import { openWorkspace, processesOf, type Workspace } from "../support/workspace.ts";

/** Passwords as people have them, each with something that some form of writing escapes. */
const fromEnvironment = 'env-p"ss\\w0rd-1';
const fromFile = "file-p&ss<w>rd/2=+";
const fromCommand = "command-p%ss wörd-3";
const literal = "literal-passw0rd-4";
const changed = "changed-p'ssw0rd-5";

const manifest = `
apiVersion: graphform/v1
name: secret
secrets:
  environment: { env: SOME_PASSWORD }
  file: { file: ./password.txt }
  command: { command: [cat, other.txt] }
defaults:
  instances: { tier: free, component: free, cloudProvider: aws, region: us-east-1 }
instances:
  a: { config: { name: a, graphdbUser: app, graphdbPassword: "\${secret.environment}" } }
  b: { config: { name: b, graphdbUser: app, graphdbPassword: "\${secret.file}" } }
  c: { config: { name: c, graphdbUser: app, graphdbPassword: "\${secret.command}" } }
  d: { config: { name: d, graphdbUser: app, graphdbPassword: ${literal} } }
  e: { config: { name: e, graphdbUser: app, graphdbPassword: "\${env.SOME_PASSWORD}" } }
outputs:
  endpoint: \${instances.a.id}
`;

/** Every way that a secret could be written down. */
function formsOf(secret: string): readonly string[] {
  const quoted = JSON.stringify(secret).slice(1, -1);
  const bytes = Buffer.from(secret);
  return [
    secret,
    quoted,
    JSON.stringify(quoted).slice(1, -1),
    encodeURIComponent(secret),
    bytes.toString("base64"),
    bytes.toString("base64url"),
    bytes.toString("hex"),
  ];
}

/** Where one of the secrets stands, by the name of what was searched; empty where none does. */
function found(texts: { readonly [name: string]: string }, secrets: readonly string[]): readonly string[] {
  return Object.entries(texts).flatMap(([name, text]) =>
    secrets
      .filter((secret) => formsOf(secret).some((form) => text.includes(form)))
      .map((secret) => `${name}: ${secret}`),
  );
}

function openUser(text: string, packaged = false): Workspace {
  const user = openWorkspace(text, { packaged });
  user.env["SOME_PASSWORD"] = fromEnvironment;
  user.env["GITHUB_ACTIONS"] = "true";
  user.env["GITHUB_STEP_SUMMARY"] = "summary.md";
  user.write("password.txt", `${fromFile}\n`);
  user.write("other.txt", `${fromCommand}\n`);
  return user;
}

/** What the user's own files hold in clear on purpose. */
const own = new Set(["graphform.yaml", "password.txt", "other.txt"]);

/** The commands, in this order. */
const commands = [
  "validate",
  "validate --json --sarif validate.sarif",
  "plan --sarif plan.sarif --markdown plan.md --gitlab tfplan.json",
  "plan --json --trace --log run.log",
  "plan --out first.plan",
  "show first.plan",
  "show --json first.plan",
  "apply first.plan --json --trace --log run.log",
  "show",
  "show --json",
  "output",
  "output --json",
  "plan --json",
  "drift --verbose",
  "drift --json --sarif drift.sarif --junit drift.xml --markdown drift.md --html drift.html --prometheus drift.prom",
];
const commandsAfterChange = [
  "plan",
  "plan --json",
  "plan --out second.plan --sarif second.sarif --markdown second.md",
  "apply --auto-approve --trace",
  "show --json",
];

/** Runs everything that prints or writes, and gathers all of it. */
async function everything(user: Workspace): Promise<{ readonly [name: string]: string }> {
  const texts: { [name: string]: string } = {};
  const runAll = async (all: readonly string[], when: string): Promise<void> => {
    for (const command of all) {
      const { code, out, err } = await user.run(...command.split(" "));
      expect(`${command}: ${code}`).toBe(`${command}: 0`);
      texts[`${when}: ${command}`] = `${out}${err}`;
    }
  };
  await runAll(commands, "first");
  user.env["SOME_PASSWORD"] = changed;
  await runAll(commandsAfterChange, "changed");
  for (const file of user.files().filter((name) => !own.has(name))) texts[file] = user.read(file);
  return texts;
}

describe("no secret", () => {
  const all = [fromEnvironment, fromFile, fromCommand, literal, changed];
  let service: FakeService;
  let local: Workspace;
  let remote: Workspace;

  beforeAll(async () => {
    service = await FakeService.start();
    // Its processes are looked at: under `npm run test:all`, those of the program too.
    local = openUser(manifest, inject("whole"));
    remote = openUser(
      manifest.replace(
        "secrets:",
        `service: { profile: ./quick.yaml, platformUrl: "${service.url}" }\nsecrets:`,
      ),
    );
    remote.write("quick.yaml", quickProfile);
    Object.assign(remote.env, service.env);
  });
  afterAll(async () => {
    await Promise.all([local.close(), remote.close()]);
    await service.close();
  });

  it("would be overlooked: the search finds each of them in each of its forms", () => {
    for (const secret of all) {
      for (const form of formsOf(secret))
        expect(found({ text: `x${form}y` }, all)).toContain(`text: ${secret}`);
    }
  });

  it("stands anywhere, with a service that echoes passwords in clear", async () => {
    service.echo = true;
    const texts = await everything(remote);
    expect(Object.keys(texts)).toEqual(
      expect.arrayContaining([
        ".graphform/secret.state.json",
        ".graphform/secret.state.json.backup",
        ".graphform/secret.state.json.log",
        "first.plan",
        ...[
          "validate.sarif",
          "plan.sarif",
          "plan.md",
          "tfplan.json",
          "second.sarif",
          "second.md",
          "summary.md",
          ...["drift.sarif", "drift.xml", "drift.md", "drift.html", "drift.prom"],
        ],
      ]),
    );
    expect(found(texts, [...all, service.password, ...service.tokens])).toEqual([]);
    const sent = service.requests
      .filter(({ body }) => body !== undefined)
      .map(({ body }) => JSON.stringify(body));
    expect(sent.join("")).toContain(JSON.stringify(changed).slice(1, -1));
  });

  it("went anywhere but to sign-in, and tokens to nothing but their own host", () => {
    const withPassword = service.requests.filter(
      ({ authorization, operation }) => authorization !== "" && operation !== "signin",
    );
    expect(withPassword).toEqual([]);
    expect(
      found(
        Object.fromEntries(service.requests.map(({ path, query }, at) => [`${at}`, `${path}?${query}`])),
        [...all, ...service.tokens],
      ),
    ).toEqual([]);
  });

  it("stands in an error that repeats what the service said", async () => {
    remote.write(
      "graphform.yaml",
      remote
        .read("graphform.yaml")
        .replace(
          "  a: {",
          '  f: { config: { name: f, graphdbUser: app, graphdbPassword: "${secret.file}" } }\n  a: {',
        ),
    );
    service.misbehave = ({ operation, cookie }) => {
      const message = `password ${fromFile} of ${service.username}:${service.password} is in a list of leaked ones (${cookie})`;
      const body = JSON.stringify({
        name: "bad_request",
        id: "x",
        message,
        temporary: false,
        timeout: false,
        fault: false,
      });
      return operation === "create" ? { status: 400, body } : undefined;
    };
    for (const command of [
      ["apply", "--auto-approve"],
      ["apply", "--auto-approve", "--json"],
    ]) {
      const { code, out, err } = await remote.run(...command);
      expect([code, out]).toEqual([1, expect.stringMatching(/is in a list\s+of leaked ones/)]);
      expect(found({ out, err }, [...all, service.password, ...service.tokens])).toEqual([]);
    }
  });

  it("stands in what any other command repeats of the service", async () => {
    const known = [fromEnvironment, fromFile, literal, service.password];
    remote.env["SOME_PASSWORD"] = fromEnvironment;
    service.misbehave = ({ operation, method, path }) => {
      const isOurs = ["restart", "backup", "delete"].includes(operation);
      const isOther = method === "GET" && /snapshot|service-offering/.test(path);
      if (!isOurs && !isOther) return undefined;
      return { status: 400, body: JSON.stringify({ message: `no: ${known.join(" ")}` }) };
    };
    for (const command of [
      ["instance", "restart", "instances.a"],
      ["instance", "backup", "instances.b", "--json"],
      ["snapshot", "list"],
      ["snapshot", "copy", "s-1", "--region", "eu-west-1"],
      ["doctor"],
      ["doctor", "--json"],
      ["destroy", "--auto-approve"],
      ["destroy", "--auto-approve", "--json"],
    ]) {
      const { code, out, err } = await remote.run(...command);
      expect([command, code, `${out}${err}`]).toEqual([
        command,
        1,
        expect.stringContaining("no: (sensitive)"),
      ]);
      expect(found({ out, err }, known)).toEqual([]);
    }
  });

  it("stands in what the service says in its own words, where it is too short to be masked", async () => {
    const user = openUser(`
apiVersion: graphform/v1
name: short
service: { profile: ${quickProfileFile}, platformUrl: "${service.url}" }
instances:
  a: { tier: free, component: free, cloudProvider: aws, region: us-east-1, config: { name: a, graphdbUser: app, graphdbPassword: "q7!" } }
`);
    Object.assign(user.env, service.env);
    service.behave();
    service.fate = () => ({ failed: "the password q7! is in a list of leaked ones" });
    const failed = await user.run("apply", "--auto-approve", "--json");
    service.misbehave = ({ operation }) =>
      operation === "restart" ? { status: 400, body: JSON.stringify({ message: "no: q7!" }) } : undefined;
    const refused = await user.run("instance", "restart", "instances.a");
    await user.close();
    service.behave();
    for (const { code, out, err } of [failed, refused]) {
      expect([code, `${out}${err}`]).toEqual([1, expect.stringContaining("(withheld: it repeats a secret)")]);
      expect(`${out}${err}`).not.toContain("q7!");
    }
  });

  it("comes into the state by an output: a status that nobody knows is a word like any other", async () => {
    service.behave();
    remote.write(
      "graphform.yaml",
      remote.read("graphform.yaml").replace("outputs:", "outputs:\n  status: ${instances.a.status}"),
    );
    expect(await remote.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
    for (const instance of service.instances.values()) instance.status = `BUSY WITH ${literal}`;
    const { out, err } = await remote.run("apply", "--auto-approve", "--timeout", "1s");
    expect(out).toContain('status   = "BUSY WITH (sensitive)"');
    expect(found({ out, err, state: remote.read(".graphform/secret.state.json") }, all)).toEqual([]);
  });

  it("stands in a problem with the manifest", async () => {
    const user = openUser(
      manifest
        .replace("name: d,", `name: d, graphDBCacheSize: ${literal},`)
        .replace("outputs:", "outputs:\n  leak: ${secret.environment}"),
    );
    const { code, out, err } = await user.run("plan");
    await user.close();
    expect(code).toBe(3);
    expect(found({ out, err }, all)).toEqual([]);
  });

  it("stands in anything that the local platform writes down, or in the arguments of a process", async () => {
    await platformUp(local, "--echo");
    const texts = await everything(local);
    const credentials: { password: string } = JSON.parse(local.read(".graphform/platform/credentials.json"));
    // What the service itself must know to bring its databases back stands in its own, private folders.
    const outside = Object.entries(texts).filter(
      ([name]) => !/^\.graphform\/platform\/(control|databases|credentials)/.test(name),
    );
    expect(outside.map(([name]) => name)).toEqual(
      expect.arrayContaining([".graphform/platform/platform.log", ".graphform/platform/requests.jsonl"]),
    );
    const processes = processesOf(local.dir).map((pid) =>
      readFileSync(join("/proc", String(pid), "cmdline"), "utf8"),
    );
    expect(processes.length).toBe(6);
    expect(
      found({ ...Object.fromEntries(outside), processes: processes.join("\n") }, [
        ...all,
        credentials.password,
      ]),
    ).toEqual([]);
    for (const [name, text] of outside)
      expect([name, text]).not.toEqual([name, expect.stringMatching(/eyJ[A-Za-z0-9_-]{8,}\./)]);
    // The platform notes what reached it where it does not belong.
    expect(local.read(".graphform/platform/requests.jsonl")).not.toContain('"notes"');
  });
});

describe("a password in force that nobody declared", () => {
  const config = (password: string): string => `instances:
  one:
    tier: pro
    component: multi-zone
    cloudProvider: aws
    region: us-east-1
    config: { name: one, description: ours, nodeInstanceType: m7g.large, graphdbUser: app${password} }
`;
  const declared = config(', graphdbPassword: "${secret.pw}"');

  /** Everything that is printed and written of a database that has this password now, and was changed by hand. */
  async function textsOf(live: string, manifest: string): Promise<{ readonly [name: string]: string }> {
    const bench = await cloudBench(declared);
    const { cloud, folder } = bench;
    expect(await bench.gf("apply", "--auto-approve")).toMatchObject({ code: 0 });
    await bench.manifest(manifest);
    for (const [at, instance] of cloud.instances.entries()) {
      const echoed = { name: "one", description: "by hand", falkordbUser: "app", falkordbPassword: live };
      cloud.instances[at] = { ...instance, shown: { ...instance.shown, result_params: echoed } };
    }
    const message = `falkordbPassword set to ${live}`;
    const events = [{ id: "e-1", time: "2099-01-01T00:00:00Z", message, userName: "bob" }];
    let isRead = true;
    cloud.meddle = ({ method, url }) => {
      if (url.endsWith("/audit-events")) return { body: { events, ids: ["e-1"] } };
      if (method === "POST" && /failover|restart/.test(url)) return { status: 400, body: { message } };
      // No answer before it shows the password.
      const row = JSON.stringify({ requestParams: { falkordbPassword: live } });
      return isRead || !/resource-instance/.test(url) || /signin/.test(url)
        ? undefined
        : { status: 400, body: { name: "bad_request", message: `bad row ${row}` } };
    };
    const texts: { [name: string]: string } = {};
    const ran = async (...args: readonly string[]): Promise<void> => {
      const { out, err } = await bench.gf(...args);
      texts[`${args.join(" ")} ${isRead}`.replaceAll(folder, "")] = out + err;
    };
    const at = (name: string): string => join(folder, name);
    for (const command of [
      "instance events instances.one",
      "instance events instances.one --json",
      "instance failover instances.one --replica node-sz-1",
      "instance restart instances.one --json",
      `plan --out ${at("saved.plan")} --html ${at("plan.html")}`,
      "plan --json",
      `drift --markdown ${at("drift.md")} --html ${at("drift.html")} --junit ${at("drift.xml")}`,
      `drift --json --sarif ${at("drift.sarif")}`,
    ])
      await ran(...command.split(" "));
    isRead = false;
    for (const command of ["plan", "drift --json", "instance restart instances.one"])
      await ran(...command.split(" "));
    for (const name of readdirSync(folder).filter((file) => /\.[a-z]+$/.test(file)))
      texts[name] = readFileSync(at(name), "utf8");
    const dated = /"[^"]*T\d\d:\d\d:[^"]*"/g;
    return Object.fromEntries(
      Object.entries(texts).map(([name, text]) => [
        name,
        text.replaceAll(folder, "").replaceAll(dated, '""'),
      ]),
    );
  }

  it.each([
    ["was changed at the service", declared],
    ["is that of a database whose password is not declared", config("")],
  ])("stands nowhere, and changes nothing that is found, if it %s", async (_, manifest) => {
    const live = 'L1ve-Ech"o&ed\\Pass';
    const texts = await textsOf(live, manifest);
    expect(found(texts, [live])).toEqual([]);
    const says = (name: string, words: RegExp): void =>
      expect([name, texts[name]]).toEqual([name, expect.stringMatching(words)]);
    for (const name of ["instance events instances.one true", "drift.md", "drift.html"])
      says(name, /falkordbPassword set to \(sensitive\)/);
    for (const verb of ["failover instances.one --replica node-sz-1", "restart instances.one --json"])
      says(`instance ${verb} true`, /falkordbPassword\s+set\s+to\s+\(sensitive\)/);
    says("plan false", /bad\s+row/);
    const other = await textsOf("Another-Pass", manifest);
    for (const name of [
      "drift --json --sarif /drift.sarif true",
      "plan --out /saved.plan --html /plan.html true",
      "instance failover instances.one --replica node-sz-1 true",
    ])
      expect(texts[name]).toBe(other[name]);
  });
});
