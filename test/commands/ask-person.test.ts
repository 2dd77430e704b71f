import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { askPerson } from "../../src/commands/login.ts";

/** What a person types, and what stands on the terminal in the end. */
async function typed(
  keys: string,
  isHidden: boolean,
): Promise<{ readonly answer: unknown; readonly shown: string }> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const asked = askPerson("Password: ", isHidden, input, output).catch((error: unknown) => error);
  input.end(keys);
  const answer = await asked;
  output.end();
  return { answer, shown: await text(output) };
}

describe("a question to a person", () => {
  it("is answered by a line", async () => {
    const { answer, shown } = await typed("ada\r", false);
    expect(answer).toBe("ada");
    expect(shown).toContain("ada");
  });

  it("shows nothing of what is hidden", async () => {
    const { answer, shown } = await typed("tell nobody\r", true);
    expect(answer).toBe("tell nobody");
    expect(shown).toBe("Password: \n");
  });

  it.each([
    ["Ctrl-C", "\u0003"],
    ["Ctrl-C in the middle", "tell\u0003"],
    ["Ctrl-D", "\u0004"],
    ["the end of the input", ""],
  ])("ends the command at %s, and is no empty answer", async (_, keys) => {
    const { answer, shown } = await typed(keys, true);
    expect(answer).toMatchObject({ code: "interrupted", exitCode: 130 });
    expect(shown).not.toContain("tell");
  });
});
