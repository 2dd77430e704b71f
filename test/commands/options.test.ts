import type { Command } from "commander";
import { expect, it } from "vitest";
import { createProgram } from "../../src/commands/program.ts";
import { formatAddress } from "../../src/model/address.ts";
import { settingsOf } from "../../src/project/settings.ts";
import { escapeText } from "../../src/report/typeset.ts";

const program = createProgram({
  at: () => expect.fail("no command is run"),
  settings: settingsOf({}),
  done: () => undefined,
});

function commandsBelow(command: Command): readonly Command[] {
  return command.commands.flatMap((each) => [each, ...commandsBelow(each)]);
}

/** Every name of an option: `-V` and `--version` of the same one. */
function namesOf(command: Command): readonly string[] {
  return command.options.flatMap(({ short, long }) => [short, long].filter((name) => name !== undefined));
}

it("no command has an option that the program takes for its own", () => {
  const own = namesOf(program);
  expect(own).toContain("--version");
  const taken = commandsBelow(program).flatMap((command) =>
    namesOf(command)
      .filter((name) => own.includes(name))
      .map((name) => `${command.parent?.name()} ${command.name()} ${name}`),
  );
  expect(taken).toEqual([]);
});

it("an address is taken as reports print it, by every option and argument that wants one", () => {
  const address = formatAddress({ section: "instances", name: "cache", key: '\u202e"a"\u{e0041}\n\u009b' });
  const wanted = commandsBelow(program).flatMap((command) => [
    ...command.options
      .filter(({ flags }) => flags.includes("<address"))
      .map((option) => ({ command, taker: option })),
    ...command.registeredArguments
      .filter((argument) => ["address", "from", "to"].includes(argument.name()) && command.name() !== "copy")
      .map((argument) => ({ command, taker: argument })),
  ]);
  expect(wanted.length).toBeGreaterThan(20);
  for (const { command, taker } of wanted) {
    const read: unknown = taker.parseArg?.(escapeText(address), []);
    expect([read].flat(), `${command.name()} ${taker.description}`).toEqual([address]);
  }
});
