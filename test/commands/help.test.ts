import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Command, Help } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../src/commands/program.ts";
import { settingsOf } from "../../src/project/settings.ts";

const program = createProgram({
  at: () => expect.fail("no command is run"),
  settings: settingsOf({}),
  done: () => undefined,
});

/** A command by its words: `state mv`. */
function commandOf(path: string): Command {
  return path.split(" ").reduce((command, word) => {
    const child = command.commands.find((each) => each.name() === word);
    return child ?? expect.fail(`there is no command ${path}`);
  }, program);
}

/** The help as `--help` prints it, examples included. */
function helpOf(command: Command): string {
  const lines: string[] = [];
  command.configureOutput({ writeOut: (text) => void lines.push(text) });
  command.outputHelp();
  return lines.join("");
}

function pathsBelow(command: Command, path = ""): readonly string[] {
  return command.commands.flatMap((each) => {
    const own = `${path} ${each.name()}`.trim();
    return [...(each.commands.length === 0 ? [own] : []), ...pathsBelow(each, own)];
  });
}

describe("help", () => {
  it("has every command in a group", () => {
    const help = helpOf(program);
    for (const heading of ["Plan and apply:", "What is recorded:", "Operations at the service:"])
      expect(help).toContain(`\n${heading}\n`);
    expect(help).not.toContain("\nCommands:\n");
  });

  it.each(["", ...pathsBelow(program)])("of `graphform %s` has no noise of defaults", (path) => {
    expect(helpOf(path === "" ? program : commandOf(path))).not.toContain("default: []");
  });

  it.each(["", ...pathsBelow(program)])("of `graphform %s` fits 80 columns", (path) => {
    const command = path === "" ? program : commandOf(path);
    command.configureOutput({ getOutHelpWidth: () => 80 });
    for (const line of helpOf(command).split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
    command.configureOutput({ getOutHelpWidth: () => 120 });
  });

  it.each(["plan", "apply", "import", "drift", "state mv", "platform up"])(
    "of `graphform %s` has examples, with options that it has",
    (path) => {
      const lines = helpOf(commandOf(path)).match(/^ {2}graphform .*$/gm) ?? [];
      expect(lines.length).toBeGreaterThan(1);
      for (const line of lines) {
        const [command = ""] = line.trim().split(/ {2,}|(?= \|)/);
        expect(command).toMatch(new RegExp(`^graphform ${path}\\b`));
        // Options of `platform up` that it does not know go to the platform's program, and are tested there.
        const known = path === "platform up" ? ["--profile", "--delay", "--engine"] : [];
        const options = [...program.options, ...commandOf(path).options].map((option) => option.long);
        for (const [option] of command.matchAll(/--[a-z-]+/g))
          expect([...options, ...known]).toContain(option);
      }
    },
  );
});

const files = ["--file", "--var", "--var-file", "--profile"];
const hosts = ["--platform-url", "--users-url"];
const requests = [...hosts, "--subscription", "--parallelism", "--timeout", "--log", "--trace"];
const planning = [
  ...["--target", "--exclude", "--replace", "--allow-destroy", "--cutover", "--max-disruption"],
];
const state = ["--file", "--state", "--var", "--var-file"];
const read = [...files, "--state", ...requests];
const write = [...read, "--lock-timeout"];

/** The shared options that do something for a command, and no other one. */
const effective: { readonly [path: string]: readonly string[] } = {
  validate: [...files, ...requests],
  plan: [...read, ...planning],
  apply: [...write, ...planning],
  destroy: [...write, ...planning],
  drift: [...read, "--target", "--exclude"],
  import: write,
  show: state,
  output: state,
  "state list": state,
  "state show": state,
  "state mv": [...state, "--lock-timeout"],
  "state rm": [...state, "--lock-timeout"],
  "state pull": state,
  "state init": state,
  "state migrate": [...state, "--lock-timeout"],
  "state push": [...state, "--lock-timeout"],
  "state history": state,
  "state restore": [...state, "--lock-timeout"],
  "state rebind": write,
  "state unlock": state,
  ...Object.fromEntries(
    ["backup", "failover", "start", "stop", "restart", "upgrade"].map((verb) => [`instance ${verb}`, write]),
  ),
  "replace status": state,
  "replace undo": write,
  "instance restore": read,
  "instance events": read,
  "snapshot list": [...files, ...requests],
  "snapshot copy": [...files, ...requests],
  "snapshot create": [...write],
  "snapshot restore": [...files, ...requests],
  "snapshot delete": [...files, ...requests],
  "account bootstrap": read,
  doctor: [...files, "--state", ...hosts, "--subscription", "--parallelism", "--timeout"],
  login: [...files, ...hosts, "--timeout"],
  logout: [...files, ...hosts, "--timeout"],
  graph: files,
};

describe("the life of a token", () => {
  const option = commandOf("serve token create").options.find(({ long }) => long === "--expires");
  const day = 86_400_000;

  it.each([
    ["90d", 90 * day],
    ["400d", 400 * day],
    ["36h", 1.5 * day],
  ])("can be %s", (text, ms) => {
    expect(option?.parseArg?.(text, undefined)).toBe(ms);
  });

  it.each(["401d", "1000d", "90", "9999h"])("cannot be %s", (text) => {
    expect(() => option?.parseArg?.(text, undefined)).toThrow("at most 400d");
  });
});

describe("shared options", () => {
  const shared = new Set([...write, ...planning]);

  it.each(Object.entries(effective))(
    "of `graphform %s` are offered where they do something",
    (path, offered) => {
      const shown = new Help().visibleOptions(commandOf(path)).map((option) => option.long ?? "");
      expect(shown.filter((name) => shared.has(name)).toSorted()).toEqual([...offered].toSorted());
    },
  );

  it("are in the table for every command that reads a manifest", () => {
    const reading = pathsBelow(program).filter((path) =>
      commandOf(path).options.some((option) => option.long === "--state"),
    );
    expect(reading.toSorted()).toEqual(Object.keys(effective).toSorted());
  });

  it("are all accepted by a command that uses the service, and by one of the state alone only those of the state, as the README says", () => {
    const readme = readFileSync(join(import.meta.dirname, "..", "..", "README.md"), "utf8");
    const alone = pathsBelow(program).filter((path) => {
      const known = commandOf(path).options.map((option) => option.long ?? "");
      return known.includes("--state") && !write.every((name) => known.includes(name));
    });
    const isNamed = (path: string) =>
      /^state (?!rebind)/.test(path) || ["show", "output", "replace status"].includes(path);
    expect(alone.toSorted()).toEqual(Object.keys(effective).filter(isNamed).toSorted());
    expect(readme).toContain("`show`, `output`, `replace status`,\nand all of `state` but `state rebind`");
    const taken = new Set(
      alone.flatMap((path) => commandOf(path).options.map((option) => option.long ?? "")),
    );
    expect(["--profile", ...requests].filter((name) => taken.has(name))).toEqual([]);
  });

  it("that do nothing for a command are still accepted: a pipeline gives one set to all", () => {
    const options = ["--state", "--lock-timeout", "--timeout", "--parallelism", "--trace", "--log"];
    for (const path of ["validate", "plan", "graph", "login", "snapshot list"]) {
      const known = commandOf(path).options.map((option) => option.long);
      expect(known, path).toEqual(expect.arrayContaining(options));
    }
  });
});
