import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ControllerConfig } from "../../../src/controller/config/config.ts";
import { limits } from "../../../src/controller/sources/checkout-folder.ts";
import { checkOut, newestCommit, type Sourced } from "../../../src/controller/sources/git.ts";
import { tenantEnvironment } from "../../../src/controller/sources/tenant-environment.ts";
import {
  GraphformError,
  loadManifest,
  ManifestError,
  openService,
  openState,
  plan,
} from "../../../src/index.ts";
import { FakeService } from "../../support/fake-service.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { makeRepository, type Repository } from "./repositories.ts";

const canary = "canary-of-another-tenant";
const own = "own-secret-of-the-shop";
const signal = new AbortController().signal;

/** What a tenant's author may write, with one place for what is tried. */
function manifest(more = "", password = "own-password-1", rest = ""): string {
  return `apiVersion: graphform/v1
name: shop
instances:
  cache:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { name: cache, graphdbUser: app, graphdbPassword: "${password}" }
${rest}${more}`;
}

let temporary = "";
let machine = "";
let marker = "";
let objects = "";
let repository: Repository;
let service: FakeService;
let config: ControllerConfig;

beforeEach(async () => {
  service = await FakeService.start();
  temporary = temporaryFolder("checkouts");
  machine = temporaryFolder("machine");
  marker = join(temporaryFolder("marker"), "it-ran");
  objects = temporaryFolder("objects");
  repository = makeRepository();
  writeFileSync(join(machine, "secret.txt"), canary);
  hostileMachine();
  vi.stubEnv("TMPDIR", temporary);
  vi.stubEnv("SHOP_PASSWORD", own);
  vi.stubEnv("SHOP_LOGIN", service.env["GRAPHFORM_PASSWORD"] ?? "");
  vi.stubEnv("BANK_PASSWORD", canary);
  vi.stubEnv("GRAPHFORM_TOKEN", canary);
  vi.stubEnv("MARKER", marker);
  const tool = join(machine, "tool");
  writeFileSync(tool, `#!/bin/sh\nprintf '%s' "from-the-vault:$*"\n`);
  chmodSync(tool, 0o755);
  config = {
    tenants: {
      shop: {
        service: { platformUrl: service.url, usersUrl: service.url },
        credentials: {
          username: { command: ["printf", service.env["GRAPHFORM_USERNAME"] ?? ""] },
          password: { env: "SHOP_LOGIN" },
        },
        secrets: { envPrefix: "SHOP_", commands: { vault: { run: [tool, "get"], env: [] } } },
        auto: "none",
        maxConcurrent: 1,
      },
      bank: { service: {}, secrets: { envPrefix: "BANK_", commands: {} }, auto: "none", maxConcurrent: 1 },
    },
    git: { allow: [repository.url], credentials: [] },
    webhooks: {},
    hooks: {},
    http: { trustProxy: [] },
  };
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await service.close();
});

/** The home of the worker: whatever its git reads there would run a program. */
function hostileMachine(): void {
  const hooks = join(machine, "hooks");
  mkdirSync(join(machine, "template", "hooks"), { recursive: true });
  mkdirSync(hooks);
  for (const folder of [hooks, join(machine, "template", "hooks")])
    for (const hook of [
      "post-checkout",
      "reference-transaction",
      "post-index-change",
      "fsmonitor-watchman",
    ]) {
      writeFileSync(join(folder, hook), `#!/bin/sh\ntouch "${marker}"\n`);
      chmodSync(join(folder, hook), 0o755);
    }
  const run = `!touch ${marker}`;
  writeFileSync(
    join(machine, ".gitconfig"),
    `[core]\n\thooksPath = ${hooks}\n\tfsmonitor = touch ${marker}\n\tsshCommand = touch ${marker}\n\taskPass = touch\n` +
      `[init]\n\ttemplateDir = ${join(machine, "template")}\n[credential]\n\thelper = "${run}"\n` +
      `[filter "evil"]\n\tsmudge = touch ${marker}\n\tclean = touch ${marker}\n\trequired = true\n` +
      `[protocol]\n\tallow = always\n[uploadpack]\n\tpackObjectsHook = touch ${marker}\n[url "ext::sh -c touch% ${marker}"]\n\tinsteadOf = file://\n`,
  );
  vi.stubEnv("HOME", machine);
  vi.stubEnv("XDG_CONFIG_HOME", machine);
  vi.stubEnv("GIT_EXEC_PATH", undefined);
  vi.stubEnv("GIT_SSH_COMMAND", `touch ${marker}`);
  vi.stubEnv("GIT_ASKPASS", "touch");
  vi.stubEnv("GIT_EXTERNAL_DIFF", `touch ${marker}`);
}

/** What came of a manifest: the passwords that would be sent to the service, or what was refused. */
interface Came {
  readonly planned: boolean;
  readonly said: string;
}

/** A worker's whole way: the newest commit, its checkout, the tenant's world, the plan. */
async function run(path = "", ref = "main", url = repository.url): Promise<Came> {
  const at: Sourced = { tenant: "shop", source: { type: "git", url, ref, path }, upload: null, commit: null };
  const told: string[] = [];
  try {
    const out = await checkOut(at, await newestCommit(at, config, signal), config, signal);
    try {
      for (const file of out.files) told.push(readFileSync(file, "utf8"));
      const given = await tenantEnvironment("shop", config, process.env, out.folder);
      const { profile: _, ...place } = given.service;
      const loaded = await loadManifest({ files: out.files, env: given.env, limits: given.limits });
      const opened = await openService(loaded, { ...place, env: given.env });
      try {
        const state = openState(loaded, { path: join(machine, "state.json") });
        const made = await plan({ manifest: loaded, service: opened, state, signal, probe: false });
        return { planned: true, said: JSON.stringify([told, made]) };
      } finally {
        await opened.close();
      }
    } finally {
      await out.remove();
    }
  } catch (error) {
    const place = (file: string): string => file.slice(file.lastIndexOf("/") + 1);
    const said =
      error instanceof ManifestError
        ? error.problems.map(
            ({ code, message, hint, range: { file, start } }) =>
              `${place(file)}:${start.line}:${start.column}: ${code}: ${message} (${hint ?? "no hint"})`,
          )
        : [
            error instanceof GraphformError
              ? `${error.code}: ${error.message} (${error.hint ?? "no hint"})`
              : String(error),
          ];
    return { planned: false, said: said.join("\n") };
  }
}

/** Nothing ran, nothing of others was read or told, nothing is left. */
function expectUnharmed(came: Came): void {
  expect(existsSync(marker), "something ran").toBe(false);
  expect(came.said).not.toContain(canary);
  expect(came.said).not.toContain("root:x:0:0");
  expect(readdirSync(temporary), "what is left of checkouts").toEqual([]);
}

describe("what a tenant allows", () => {
  it("works: its own variables, its commands by name with plain words, for each entry too", async () => {
    const secrets = `secrets:
  own: { env: SHOP_PASSWORD }
  kept: { command: [vault, "shop/cache"] }
  each: { command: { run: [vault, "shop/\${each.key}"], env: [SHOP_PASSWORD] } }
`;
    const each = `  more:
    forEach: [eu, us]
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { name: "more-\${each.key}", graphdbUser: app, graphdbPassword: "\${secret.each[each.key]}" }
`;
    repository.write("a.yaml", manifest(secrets, "${secret.own}", each));
    repository.commit();
    const came = await run();
    expect(came.said).toContain("instances.cache");
    expect(came.planned).toBe(true);
    expectUnharmed(came);
  });
});

const inside = (secret: string): string => manifest(`secrets: { pw: ${secret} }\n`, "${secret.pw}");

/** Each hostile manifest: its text, and the place and the words of its refusal. */
const manifests: readonly (readonly [name: string, text: () => string, refusal: RegExp])[] = [
  [
    "a command",
    () => inside(`{ command: [touch, "${marker}"] }`),
    /^a\.yaml:10:\d+: not-allowed-here: the command "touch" may not run here \(.*vault/,
  ],
  [
    "a command of a shell",
    () => inside(`{ command: [sh, -c, "touch ${marker}"] }`),
    /^a\.yaml:10:\d+: not-allowed-here: the command "sh"/,
  ],
  [
    "a command by its path",
    () => inside(`{ command: ["${machine}/tool"] }`),
    /not-allowed-here: the command/,
  ],
  [
    "a command by the name of a property",
    () => inside("{ command: [constructor] }"),
    /not-allowed-here: the command "constructor"/,
  ],
  [
    "a command that no resource uses",
    () => manifest(`secrets: { pw: { command: [touch, "${marker}"] } }\n`),
    /^a\.yaml:10:\d+: not-allowed-here/,
  ],
  [
    "a command in a variable",
    () =>
      manifest(
        `variables: { c: { default: touch } }\nsecrets: { pw: { command: ["\${var.c}", "${marker}"] } }\n`,
        "${secret.pw}",
      ),
    /not-allowed-here/,
  ],
  [
    "an option of an allowed command",
    () => inside('{ command: [vault, "--config=/etc/passwd"] }'),
    /^a\.yaml:10:\d+: not-allowed-here: a word after the command vault/,
  ],
  [
    "an absolute path for an allowed command",
    () => inside("{ command: [vault, /etc/passwd] }"),
    /not-allowed-here: a word after/,
  ],
  [
    "steps upwards for an allowed command",
    () => inside("{ command: [vault, shop/../bank/password] }"),
    /not-allowed-here: a word after/,
  ],
  [
    "a shell's words for an allowed command",
    () => inside('{ command: [vault, "x;touch y"] }'),
    /not-allowed-here: a word after/,
  ],
  [
    "a file for an allowed command",
    () => inside('{ command: [vault, "@/etc/passwd"] }'),
    /not-allowed-here: a word after/,
  ],
  [
    "another tenant's variable for an allowed command",
    () => inside("{ command: { run: [vault], env: [BANK_PASSWORD] } }"),
    /not-allowed-here: the environment variable BANK_PASSWORD/,
  ],
  [
    "an option that the key of an entry becomes",
    () =>
      manifest('secrets: { pw: { command: [vault, "${each.key}"] } }\n', "x").replace(
        '"x" }',
        '"${secret.pw[each.key]}" }\n    forEach: ["-rf", "a/../../b"]',
      ),
    /not-allowed-here: a word after the command vault/,
  ],
  [
    "a file of the machine",
    () => inside("{ file: /etc/passwd }"),
    /^a\.yaml:10:\d+: not-allowed-here: a secret may not be read from a file/,
  ],
  [
    "a file of the machine, by steps",
    () => inside("{ file: ../../../../../../../../etc/passwd }"),
    /not-allowed-here: a secret may not be read/,
  ],
  ["a file of the checkout", () => inside("{ file: a.yaml }"), /not-allowed-here: a secret may not be read/],
  [
    "a variable of another tenant",
    () => inside("{ env: BANK_PASSWORD }"),
    /^a\.yaml:10:\d+: not-allowed-here: the environment variable BANK_PASSWORD may not be read here \(.*SHOP_/,
  ],
  [
    "a variable of another tenant, in place",
    () => manifest("", "${env.BANK_PASSWORD}"),
    /^a\.yaml:9:\d+: not-allowed-here: the environment variable BANK_PASSWORD/,
  ],
  [
    "a variable of the machine",
    () => manifest("", "${env.PATH}"),
    /not-allowed-here: the environment variable PATH/,
  ],
  [
    "the controller's token",
    () => manifest("", "${env.GRAPHFORM_TOKEN}"),
    /not-allowed-here: the environment variable GRAPHFORM_TOKEN/,
  ],
  [
    "its own login at the service",
    () => manifest("", "${env.SHOP_LOGIN}"),
    /not-allowed-here: the environment variable SHOP_LOGIN.*\(.*login/,
  ],
  [
    "the login that the run signs in with",
    () => manifest("", "${env.GRAPHFORM_PASSWORD}"),
    /not-allowed-here: the environment variable GRAPHFORM_PASSWORD/,
  ],
  [
    "a variable of another tenant that the key of an entry makes",
    () =>
      manifest('secrets: { pw: { env: "${each.key}_PASSWORD" } }\n', "x").replace(
        '"x" }',
        '"${secret.pw[each.key]}" }\n    forEach: [bank]',
      ),
    /not-allowed-here: the environment variable/,
  ],
  [
    "a secret in an output",
    () => manifest('outputs: { x: { value: "${env.BANK_PASSWORD}", sensitive: true } }\n'),
    /not-allowed-here: the environment variable BANK_PASSWORD/,
  ],
  [
    "a hook of a migration",
    () =>
      manifest("").replace(
        "    config:",
        `    lifecycle: { onReplace: migrate, migration: { hook: [touch, "${marker}"] } }\n    config:`,
      ),
    /^a\.yaml:9:\d+: not-allowed-here: the command "touch"/,
  ],
  [
    "a hook in the defaults",
    () =>
      manifest(
        `defaults: { instances: { lifecycle: { onReplace: migrate, migration: { hook: [touch, "${marker}"] } } } }\n`,
      ),
    /not-allowed-here: the command "touch"/,
  ],
  [
    "a hook without a migration",
    () =>
      manifest("").replace(
        "    config:",
        `    lifecycle: { migration: { hook: [touch, "${marker}"] } }\n    config:`,
      ),
    /not-allowed-here: the command "touch"/,
  ],
  [
    "a hook of what is left out",
    () =>
      manifest("").replace(
        "    config:",
        `    enabled: false\n    lifecycle: { onReplace: migrate, migration: { hook: [touch, "${marker}"] } }\n    config:`,
      ),
    /not-allowed-here: the command "touch"/,
  ],
  [
    "a service of its own",
    () => manifest('service: { platformUrl: "http://evil.example.com" }\n'),
    /^a\.yaml:10:1: not-allowed-here: service is set by the configuration/,
  ],
  [
    "a users host of its own",
    () => manifest('service: { usersUrl: "http://evil.example.com" }\n'),
    /not-allowed-here: service/,
  ],
  [
    "a subscription of its own",
    () => manifest("service: { subscriptions: { free: sub-9 } }\n"),
    /not-allowed-here: service/,
  ],
  ["an empty service", () => manifest("service: {}\n"), /not-allowed-here: service/],
  [
    "a profile file",
    () => manifest(`service: { profile: "${machine}/profile.yaml" }\n`),
    /^a\.yaml:10:1: not-allowed-here: service/,
  ],
  [
    "a state of its own",
    () => manifest("state: { path: /etc/cron.d/state }\n"),
    /^a\.yaml:10:1: not-allowed-here: state is set by the configuration/,
  ],
  [
    "a state at another place",
    () => manifest('state: { type: http, address: "http://evil.example.com" }\n'),
    /not-allowed-here: state/,
  ],
  [
    "keys of an object's prototype",
    () => manifest("__proto__: { service: {} }\nconstructor: { a: b }\n"),
    /^a\.yaml:10:1: /,
  ],
  [
    "a bomb of aliases",
    () =>
      manifest(
        `outputs:\n  a: &a [x, x, x, x, x, x, x, x, x]\n${"bcdefghi"
          .split("")
          .map((name, at) => `  ${name}: &${name} [${`*${"abcdefghi"[at]}, `.repeat(9)}]\n`)
          .join("")}`,
      ),
    /a\.yaml:/,
  ],
];

describe("a hostile manifest is refused at its place, and nothing runs, is read or is left", () => {
  it.each(manifests)("%s", async (_, text, refusal) => {
    repository.write("a.yaml", text());
    repository.commit();
    const came = await run();
    expectUnharmed(came);
    expect(came.said).toMatch(refusal);
    expect(came.said).not.toContain("no hint");
  });

  it("a service in a layer of its own", async () => {
    repository.write("a.yaml", manifest());
    repository.write("b.yaml", 'service: { platformUrl: "http://evil.example.com" }\n');
    repository.commit();
    const came = await run();
    expectUnharmed(came);
    expect(came.said).toMatch(/^b\.yaml:1:1: not-allowed-here: service/);
  });
});

/** Objects that no working tree can hold. */
function blob(content: string): string {
  const file = join(objects, "object");
  writeFileSync(file, content);
  return repository.git("hash-object", "-w", file);
}

function commitStaged(): void {
  repository.git("commit", "--quiet", "--message", "staged");
}

/** Each hostile repository: how it is made, the path that is asked, and the refusal; without one its manifest is planned. */
const repositories: readonly (readonly [
  name: string,
  make: () => string | undefined,
  refusal: RegExp | undefined,
])[] = [
  [
    "a link to a file of the machine",
    () => linked("b.yaml", "/etc/passwd"),
    /^source-refused: the link b\.yaml leads out/,
  ],
  [
    "a link to a secret of the worker",
    () => linked("b.yaml", join(machine, "secret.txt")),
    /^source-refused: the link b\.yaml leads out/,
  ],
  [
    "a link by steps upwards",
    () => linked("b.yaml", "../../../../../../../../etc/passwd"),
    /^source-refused: the link b\.yaml leads out/,
  ],
  [
    "a link to a folder of the machine",
    () => linked("conf", "/etc"),
    /^source-refused: the link conf leads out/,
  ],
  [
    "a link through a folder's link",
    () => {
      repository.link("up", "..");
      return linked("b.yaml", "up/../etc/passwd");
    },
    /^source-refused: the link \S+ leads out/,
  ],
  [
    "a link to itself",
    () => linked("b.yaml", "b.yaml"),
    /^source-refused: b\.yaml is a link that leads to no file/,
  ],
  [
    "a link to nothing",
    () => linked("b.yaml", "missing.yaml"),
    /^source-refused: b\.yaml is a link that leads to no file/,
  ],
  [
    "a link to a folder with the name of a file",
    () => {
      repository.write("d/x.yaml", "a: 1");
      return linked("b.yaml", "d");
    },
    /^source-refused: b\.yaml is a link that leads to no file/,
  ],
  [
    "a link whose text answers for git",
    () => linked("b.yaml", `/etc/passwd\n${"a".repeat(40)} blob 3`),
    /^source-refused: the link b\.yaml leads out/,
  ],
  [
    "a manifest's folder that is a link",
    () => {
      repository.write("a.yaml", manifest());
      repository.link("m", "/etc");
      repository.commit();
      return "m";
    },
    /^source-empty|^source-refused/,
  ],
  [
    "a link from the manifest's folder to another one",
    () => {
      repository.write("other/x.yaml", "a: 1");
      repository.write("m/a.yaml", manifest());
      repository.link("m/x.yaml", "../other/x.yaml");
      repository.commit();
      return "m";
    },
    /^source-refused: the link x\.yaml leads out/,
  ],
  ["a submodule with a program for an address", () => submodule(`ext::sh -c touch% ${marker}`), undefined],
  [
    "a submodule whose update is a program",
    () => submodule("https://example.com/a", `\tupdate = !touch ${marker}\n`),
    /^source-unreachable: git says: error: .*gitmodulesUpdate/,
  ],
  [
    "a submodule with an option for an address",
    () => submodule(`--upload-pack=touch ${marker}`),
    /^source-unreachable|^source-refused/,
  ],
  [
    "a submodule with the name of a manifest",
    () => {
      repository.write("a.yaml", manifest());
      repository.commit();
      repository.stage([{ mode: "160000", id: "1".repeat(40), path: "b.yaml" }]);
      commitStaged();
      return undefined;
    },
    /^source-refused: b\.yaml/,
  ],
  ["hooks of the repository", () => hooked(), undefined],
  [
    "a filter that the machine knows",
    () => {
      repository.write(".gitattributes", "*.yaml filter=evil\n");
      repository.write("a.yaml", manifest());
      repository.commit();
      return undefined;
    },
    undefined,
  ],
  [
    "LFS and other attributes",
    () => {
      repository.write(".gitattributes", "*.yaml filter=lfs diff=lfs merge=lfs -text ident export-subst\n");
      repository.write(".lfsconfig", "[lfs]\n\turl = http://127.0.0.1:1\n");
      repository.write("a.yaml", manifest());
      repository.commit();
      return undefined;
    },
    undefined,
  ],
  [
    "a configuration in the tree",
    () => {
      repository.write("config", `[core]\n\tfsmonitor = touch ${marker}\n`);
      repository.write("HEAD", "ref: refs/heads/main\n");
      repository.write("hooks/post-checkout", `#!/bin/sh\ntouch ${marker}\n`);
      repository.write("a.yaml", manifest());
      repository.commit();
      return undefined;
    },
    undefined,
  ],
  [
    "a local platform in the tree",
    () => {
      repository.write(".graphform/platform/platform.json", '{"url":"http://evil.example.com"}');
      repository.write(".graphform/platform/credentials.json", '{"username":"a","password":"b"}');
      repository.write("a.yaml", manifest());
      repository.commit();
      return undefined;
    },
    undefined,
  ],
  [
    "a name that is not UTF-8",
    () => {
      repository.write("a.yaml", manifest());
      repository.commit();
      raw("100644 b\xff.yaml");
      return undefined;
    },
    /^source-refused|^source-unreachable/,
  ],
  [
    "a name with a line end",
    () => {
      repository.write("a.yaml", manifest());
      repository.commit();
      repository.stage([{ mode: "100644", id: blob("a"), path: "b\nc.yaml" }]);
      commitStaged();
      return undefined;
    },
    /^source-refused: "b\\nc\.yaml" is no name/,
  ],
  [
    "a name with the codes of a terminal",
    () => {
      repository.write("a.yaml", manifest());
      repository.commit();
      repository.stage([{ mode: "100644", id: blob("a"), path: "\u001b[2Jc.yaml" }]);
      commitStaged();
      return undefined;
    },
    /^source-refused: "\\u001b/,
  ],
  [
    "a step upwards in a tree",
    () => {
      repository.write("a.yaml", manifest());
      repository.commit();
      raw("100644 ../b.yaml");
      return undefined;
    },
    /^source-refused|^source-unreachable/,
  ],
  [
    "a name twice, as a link and as a file",
    () => {
      repository.write("a.yaml", manifest());
      repository.commit();
      raw("120000 b.yaml", "100644 b.yaml");
      return undefined;
    },
    /^source-refused|^source-unreachable/,
  ],
  [
    "a huge file",
    () => {
      repository.write("a.yaml", manifest());
      repository.write("b.yaml", "#".repeat(limits.fileBytes + 1));
      repository.commit();
      return undefined;
    },
    /^source-refused: b\.yaml is larger than 10 MB/,
  ],
  [
    "files that are huge together",
    () => {
      Array.from({ length: 8 }, (_, at) => repository.write(`b${at}.yaml`, "#".repeat(9 * 1024 * 1024)));
      repository.commit();
      return undefined;
    },
    /^source-refused: the files of the manifest are larger than 64 MB/,
  ],
  [
    "100 000 files",
    () => {
      manyFiles(100_000);
      return undefined;
    },
    /^source-refused: the folder/,
  ],
  ["a folder that is too deep", () => "a/".repeat(40), /^source-refused: the path/],
];

function linked(path: string, target: string): undefined {
  repository.write("a.yaml", manifest());
  repository.commit();
  repository.stage([{ mode: "120000", id: blob(target), path }]);
  commitStaged();
}

function submodule(url: string, more = ""): undefined {
  repository.write("a.yaml", manifest());
  repository.write(".gitmodules", `[submodule "s"]\n\tpath = s\n\turl = "${url}"\n${more}`);
  repository.commit();
  repository.stage([{ mode: "160000", id: "1".repeat(40), path: "s" }]);
  commitStaged();
}

/** Hooks and programs that the served repository itself names. */
function hooked(): undefined {
  repository.write("a.yaml", manifest());
  repository.commit();
  for (const hook of ["post-checkout", "pre-upload", "post-update", "reference-transaction"]) {
    const file = join(repository.folder, ".git", "hooks", hook);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, `#!/bin/sh\ntouch ${marker}\n`);
    chmodSync(file, 0o755);
  }
  repository.git("config", "uploadpack.packObjectsHook", `touch ${marker}`);
  repository.git("config", "core.fsmonitor", `touch ${marker}`);
}

/** Commits a tree as bytes that git itself would not write. */
function raw(...entries: readonly string[]): void {
  const id = Buffer.from(blob("a: 1\n"), "hex");
  const old = repository.git("ls-tree", "HEAD", "a.yaml").split(/[ \t]/);
  const rows = [
    ["100644 a.yaml", Buffer.from(old[2] ?? "", "hex")] as const,
    ...entries.map((entry) => [entry, id] as const),
  ];
  const tree = Buffer.concat(
    rows.map(([entry, object]) => Buffer.concat([Buffer.from(`${entry}\0`, "latin1"), object])),
  );
  const file = join(objects, "tree");
  writeFileSync(file, tree);
  const made = repository.git("hash-object", "-t", "tree", "--literally", "-w", file);
  repository.git("update-ref", "refs/heads/main", repository.git("commit-tree", made, "-m", "raw"));
}

function manyFiles(count: number): void {
  const names = Array.from({ length: count }, (_, at) => `M 100644 :1 f${at}.yaml\n`).join("");
  execFileSync("git", ["-C", repository.folder, "fast-import", "--quiet"], {
    input: `blob\nmark :1\ndata 5\na: 1\n\ncommit refs/heads/main\ncommitter a <a@example.com> 0 +0000\ndata 1\nm\n${names}\n`,
    env: { PATH: process.env["PATH"], HOME: objects, GIT_CONFIG_NOSYSTEM: "1" },
  });
}

describe("of a hostile repository nothing runs, is read or is left", () => {
  it.each(repositories)("%s", async (_, make, refusal) => {
    const came = await run(make() ?? "");
    expectUnharmed(came);
    if (refusal === undefined) expect(came.planned, came.said).toBe(true);
    else expect(came.said).toMatch(refusal);
  });

  it("a commit that is larger than what may be fetched", async () => {
    const before = limits.fetchedBytes;
    repository.write("a.yaml", manifest());
    repository.write(
      "b.bin",
      Buffer.from(Array.from({ length: 3_000_000 }, () => Math.floor(Math.random() * 256))),
    );
    repository.commit();
    Reflect.set(limits, "fetchedBytes", 1_000_000);
    const came = await run();
    Reflect.set(limits, "fetchedBytes", before);
    expectUnharmed(came);
    expect(came.said).toMatch(/^source-refused: one commit of the repository is larger than/);
  });

  it.each([
    ["a program", () => `ext::sh -c touch% ${marker}`],
    ["an option", () => `--upload-pack=touch ${marker}`],
    ["a folder that is not listed", () => `file://${machine}`],
    ["steps from a listed one", () => `${repository.url}/../..`],
    ["SSH", () => "ssh://git@127.0.0.1/a"],
    ["a login", () => "https://user:pass@git.example.com/a"],
  ])("that is named as %s", async (_, url) => {
    const came = await run("", "main", url());
    expectUnharmed(came);
    expect(came.said).toMatch(/^source-refused: /);
    expect(came.said).not.toContain("pass@");
  });

  it.each(["--upload-pack=touch it", "refs/*", "a..b"])("whose ref is %s", async (ref) => {
    repository.write("a.yaml", manifest());
    repository.commit();
    const came = await run("", ref);
    expectUnharmed(came);
    expect(came.said).toMatch(/^source-refused: the ref/);
  });
});

describe("the library with limits", () => {
  let folder = "";
  beforeEach(() => {
    folder = join(objects, "folder");
    mkdirSync(folder);
    writeFileSync(join(folder, "a.yaml"), manifest());
  });

  const problemsOf = async (
    files: readonly string[],
    variableFiles: readonly string[] = [],
  ): Promise<string> => {
    const given = await tenantEnvironment("shop", config, process.env, folder);
    return loadManifest({ files, variableFiles, env: given.env, limits: given.limits }).then(
      () => "loaded",
      (error: unknown) =>
        error instanceof ManifestError
          ? error.problems
              .map(({ code, message, excerpt = "" }) => `${code}: ${message} ${excerpt}`)
              .join("\n")
          : String(error),
    );
  };

  it.each([
    [
      "a link to another file",
      () => symlinkSync(join(machine, "secret.txt"), join(folder, "b.yaml")),
      () => [folder],
    ],
    [
      "a link to another file, by name",
      () => symlinkSync("/etc/passwd", join(folder, "b.yaml")),
      () => [join(folder, "b.yaml")],
    ],
    [
      "a link to a folder",
      () => symlinkSync(machine, join(folder, "c")),
      () => [join(folder, "c", "secret.txt")],
    ],
    ["another file", () => undefined, () => ["/etc/passwd"]],
    ["another folder", () => undefined, () => [machine]],
    ["steps upwards", () => undefined, () => [join(folder, "../".repeat(20), "etc", "passwd")]],
    [
      "a pipe, which would be waited for",
      () => execFileSync("mkfifo", [join(folder, "p.yaml")]),
      () => [folder],
    ],
  ])("opens no %s", async (_, make, files) => {
    make();
    const said = await problemsOf(files());
    expect(said).toMatch(/not-allowed-here: this is not a file of the manifest's own folder/);
    expect(said).not.toContain(canary);
  });

  it("opens links and files that stay in the folder", async () => {
    symlinkSync("a.yaml", join(folder, "b.yaml"));
    expect(await problemsOf([folder])).toBe("loaded");
  });

  it("opens no file of variables elsewhere", async () => {
    writeFileSync(join(machine, "v.yaml"), `x: ${canary}\n`);
    const said = await problemsOf([join(folder, "a.yaml")], [join(machine, "v.yaml")]);
    expect(said).toContain("this is not a file of the manifest's own folder");
    expect(said).not.toContain(canary);
  });

  it("takes no hosts, no login and no authority from a local platform beside the manifest", async () => {
    const platform = join(folder, ".graphform", "platform");
    mkdirSync(platform, { recursive: true });
    writeFileSync(
      join(platform, "platform.json"),
      JSON.stringify({ url: service.url, usersUrl: "http://evil.example.com", caFile: "/etc/passwd" }),
    );
    writeFileSync(join(platform, "credentials.json"), JSON.stringify({ username: "evil", password: "evil" }));
    const given = await tenantEnvironment("shop", config, process.env, folder);
    const loaded = await loadManifest({
      files: [join(folder, "a.yaml")],
      env: given.env,
      limits: given.limits,
    });
    const { usersUrl: _, profile: __, ...place } = given.service;
    const opened = await openService(loaded, { ...place, env: given.env });
    const state = openState(loaded, { path: join(machine, "state.json") });
    const made = await plan({ manifest: loaded, service: opened, state, signal, probe: false });
    await opened.close();
    expect(JSON.stringify(made)).not.toContain("evil");
  });

  it("gives a tenant nothing of the machine's login, and of other tenants' variables", async () => {
    const { env } = await tenantEnvironment("shop", config, process.env, folder);
    expect(Object.values(env)).not.toContain(canary);
    expect(env).toMatchObject({ SHOP_PASSWORD: own, GRAPHFORM_PASSWORD: service.env["GRAPHFORM_PASSWORD"] });
    expect(env["SHOP_LOGIN"]).toBeUndefined();
    await expect(tenantEnvironment("constructor", config, process.env, folder)).rejects.toMatchObject({
      code: "unknown-tenant",
    });
  });
});
