import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { disruptions } from "../../src/model/field-schema.ts";
import type { Bound } from "../../src/model/state.ts";
import { emptyState, stateFormatter } from "../../src/state/document.ts";
import { headLine } from "../../src/state/state-log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { run } from "./harness.ts";

const manifest = `apiVersion: graphform/v1
name: shop
service: { platformUrl: "http://127.0.0.1:1" }
variables: { regions: { type: list, default: [eu, us] } }
secrets: { password: { command: [/bin/false] } }
instances:
  orders: { tier: pro, component: standalone, cloudProvider: aws, region: us-east-1 }
  cache: { forEach: "\${var.regions}", tier: pro, component: standalone, cloudProvider: aws, region: us-east-1 }
`;

let folder = "";
let file = "";

beforeAll(() => {
  folder = temporaryFolder("completion");
  file = join(folder, "graphform.yaml");
  writeFileSync(file, manifest);
  writeFileSync(join(folder, "broken.yaml"), `${manifest}  Bad Name: 1\n`);
  writeFileSync(join(folder, "plain.yaml"), manifest.replace(/^ {2}cache.*\n/m, ""));
  mkdirSync(join(folder, "bin"));
  const program = join(inject("packaged"), "bin/graphform.js");
  writeFileSync(join(folder, "bin/graphform"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  chmodSync(join(folder, "bin/graphform"), 0o755);
  mkdirSync(join(folder, "app/node_modules/.bin"), { recursive: true });
  mkdirSync(join(folder, "app/inner"));
  // A repository that brings its Node, where the one of the machine is too old.
  const own = join(folder, "app/node_modules/.bin");
  symlinkSync(process.execPath, join(own, "node"));
  writeFileSync(join(own, "graphform"), `#!/bin/sh\nexec node "${program}" "$@"\n`);
  writeFileSync(join(folder, "bin/node"), "#!/bin/sh\nexit 1\n");
  for (const name of [join(own, "graphform"), join(folder, "bin/node")]) chmodSync(name, 0o755);
});

/** The candidates for the last word. */
async function candidates(...words: readonly string[]): Promise<readonly string[]> {
  const { code, out, err } = await run(["complete", "--", ...words], {});
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out.split("\n").flatMap((line) => line.split("\t")[0] || []);
}

const bound: Bound = {
  ...{ kind: "instances", id: "instance-1", place: { tier: "pro", component: "standalone" }, recorded: {} },
  ...{ protect: true, onDelete: "delete", refs: [], createdAt: "2026-01-01T00:00:00.000Z" },
};

const both = ['instances.cache["eu"]', 'instances.cache["us"]'];

describe("what may follow", () => {
  it.each([
    ["a command", ["snap"], ["snapshot"]],
    ["a command of a group", ["instance", "fail"], ["failover"]],
    ["an option", ["instance", "failover", "--rep"], ["--replica"]],
    ["an option that does something, and no other one", ["plan", "--lock"], []],
    ["a choice", ["plan", "--max-disruption", ""], disruptions],
    [
      "a choice behind =",
      ["plan", "--max-disruption=d"],
      ["--max-disruption=downtime", "--max-disruption=data-loss"],
    ],
    ["an option of every command", ["plan", "--chd"], ["--chdir"]],
    ["a choice behind a folder", ["plan", "--chdir", "envs", "--max-disruption", "no"], ["none"]],
    ["a choice behind = in bash", ["plan", "--max-disruption", "=", "no"], ["none"]],
    ["a choice of an argument", ["completion", "b"], ["bash"]],
    ["a profile", ["plan", "--profile", "falkor"], ["falkordb-cloud"]],
    ["a profile to show", ["profile", "show", "d"], ["default"]],
    ["a schema", ["schema", "ma"], ["manifest"]],
    ["a field", ["explain", "instances.config.maxM"], ["instances.config.maxMemory"]],
    ["a field by its path", ["explain", "config.maxM"], ["config.maxMemory"]],
    ["fields step by step", ["explain", "instances.con"], ["instances.config."]],
    ["a field by its own name", ["explain", "maxMem"], ["maxMemory"]],
    ["a key", ["explain", "guards.maxDe"], ["guards.maxDeletes"]],
    ["a file", ["plan", "-f", ""], []],
  ])("is %s", async (_, words, expected) => {
    expect(await candidates(...words)).toEqual(expected);
  });

  it.each([
    ["after an option", ["plan", "-f", "FILE", "--target", "instances."], [...both, "instances.orders"]],
    ["behind =", ["plan", "-f", "FILE", "--target=instances.o"], ["--target=instances.orders"]],
    ["as an argument", ["state", "show", "--file=FILE", "instances.o"], ["instances.orders"]],
    [
      "with variables",
      ["plan", "-f", "FILE", "--var", 'regions=\\[\\"asia\\"\\]', "--target", "instances.c"],
      ['instances.cache["asia"]'],
    ],
    ["in quotes", ["plan", "-f", "FILE", "--target", "'instances.cache[\"e"], ['instances.cache["eu"]']],
    [
      "with its quotes escaped",
      ["plan", "-f", "FILE", "--target", 'instances.cache\\[\\"e'],
      ['instances.cache["eu"]'],
    ],
    [
      "with the dot of its fields",
      ["drift", "-f", "FILE", "--adopt", "instances.orders.co"],
      ["instances.orders.component", "instances.orders.config."],
    ],
    [
      "with its fields",
      ["drift", "-f", "FILE", "--adopt", "instances.orders.config.maxM"],
      ["instances.orders.config.maxMemory"],
    ],
    [
      "with a key and its fields",
      ["drift", "-f", "FILE", "--adopt", 'instances.cache\\[\\"eu\\"\\].config.maxM'],
      ['instances.cache["eu"].config.maxMemory'],
    ],
    [
      "with no field that is secret",
      ["drift", "-f", "FILE", "--adopt", "instances.orders.config.graphdbP"],
      [],
    ],
    ["of a manifest with problems", ["plan", "-f", "BROKEN", "--target", "instances.c"], ["instances.cache"]],
    ["of a manifest that is not there", ["plan", "-f", "FILE.nowhere", "--target", ""], []],
    ["to move to", ["state", "mv", "-f", "FILE", "instances.old", "u"], ["users."]],
  ])("is an address %s", async (_, words, expected) => {
    const named = words.map((word) =>
      word.replace("FILE", file).replace("BROKEN", join(folder, "broken.yaml")),
    );
    expect(await candidates(...named)).toEqual(expected);
  });

  it.each([2, 3] as const)(
    "is an address of the state of a manifest without forEach (version %i)",
    async (version) => {
      const state = join(folder, `plain-${version}.json`);
      const document = { ...emptyState("shop"), serial: 1, resources: { "instances.old": bound } };
      writeFileSync(state, stateFormatter()({ ...document, version }));
      writeFileSync(`${state}.log`, headLine(document));
      const plain = join(folder, "plain.yaml");
      expect(await candidates("state", "rm", "-f", plain, "--state", state, "instances.")).toEqual([
        "instances.old",
        "instances.orders",
      ]);
    },
  );

  it("is an address of the state too, and nothing that a terminal would obey", async () => {
    const state = join(folder, "state.json");
    const resources = { "instances.old": bound, [`instances.old[${JSON.stringify("\u009b31m")}]`]: bound };
    writeFileSync(state, stateFormatter()({ ...emptyState("shop"), version: 2, serial: 1, resources }));
    expect(await candidates("state", "rm", "-f", file, "--state", state, "instances.ol")).toEqual([
      "instances.old",
    ]);
  });
});

/** Candidates of a shell's own completion for a line, the last word of which is completed. */
const shells: { readonly [shell: string]: (script: string, line: readonly string[]) => string } = {
  bash: (script, line) =>
    `${script}\nCOMP_WORDS=(${quoted(line)}); COMP_CWORD=${line.length - 1}; f=$(complete -p ${line[0]}); f=\${f#*-F }; \${f%% *}; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // Its own functions for completion work only while a person types.
  zsh: (script, line) =>
    `typeset -A _comps; compdef() { _comps[$2]=$1 }; compadd() { print -rl -- "\${(@P)argv[-1]}" }; _files() { print -rl -- *.yaml }\n${script}\nwords=(${quoted(line)}); CURRENT=\${#words}; \${_comps[${line[0]}]} | grep .`,
  fish: (script, line) => `${script}\ncomplete -C "${line.join(" ")}" | string replace -r '\\t.*' ''; true`,
};

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(" ");
}

describe("a line that makes no sense", () => {
  it.each([[[]], [["nonsense", "--x", "y", ""]], [["--"]], [["plan", "=", "="]], [["plan", "'"]]])(
    "%j is no error",
    async (words) => {
      expect(await candidates(...words)).toBeInstanceOf(Array);
    },
  );
});

describe("the script of a shell", () => {
  const isHere = (shell: string): boolean =>
    (process.env["PATH"] ?? "").split(delimiter).some((each) => existsSync(join(each, shell)));

  it.each(Object.keys(shells).filter((shell) => shell === "bash" || isHere(shell)))(
    "%s completes",
    async (shell) => {
      const script = (await run(["completion", shell], {})).out;
      const completeLine = (cwd: string, ...line: readonly string[]): readonly string[] =>
        execFileSync(shell, ["-c", shells[shell]?.(script, line) ?? ""], {
          cwd,
          env: {
            ...process.env,
            HOME: folder,
            PATH: [join(folder, "bin"), process.env["PATH"]].join(delimiter),
          },
          encoding: "utf8",
        })
          .trim()
          .split("\n");
      const complete = (...words: readonly string[]): readonly string[] =>
        completeLine(folder, "graphform", ...words);
      expect(complete("snap")).toEqual(["snapshot"]);
      expect(complete("instance", "failover", "--rep")).toEqual(["--replica"]);
      expect(complete("plan", "--target", "instances.o")).toEqual(["instances.orders"]);
      expect(complete("plan", "--target", "instances.c")).toEqual(
        shell === "bash" ? both.map((address) => address.replace(/["[\]]/g, "\\$&")) : both,
      );
      expect(complete("validate", "-f", "brok")).toContain("broken.yaml");
      expect(complete("plan", "--chdir", "a")).toEqual(["app/"]);
      expect(complete("plan", "--chdir", "app/")).toEqual(["app/inner/", "app/node_modules/"]);
      expect(complete("explain", "instances.con")).toEqual(["instances.config."]);
      expect(completeLine(join(folder, "app/inner"), "npx", "graphform", "snap")).toEqual(["snapshot"]);
      expect(completeLine(join(folder, "app"), "npx", "--no", "graphform", "drift", "--unm")).toEqual([
        "--unmanaged",
      ]);
      expect(completeLine(folder, "npx", "other", "snap")).not.toContain("snapshot");
    },
  );
});
