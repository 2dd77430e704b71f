import type { Command } from "commander";
import { expect, it } from "vitest";
import { createProgram } from "../../src/commands/program.ts";
import { settingsOf } from "../../src/project/settings.ts";

const program = createProgram({
  terminal: () => expect.fail("no command is run"),
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
