/** @module Asks a person for one line on the terminal, such as a password. */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { exitCodes, GraphformError } from "../model/errors.ts";

/**
 * Reads one line; with `isHidden` the typed characters are not shown. Throws `interrupted` (exit 130) at Ctrl-C and if the
 * input ends without an answer.
 */
export async function askPerson(
  question: string,
  isHidden: boolean,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  output.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input, output: isHidden ? silent : output, terminal: true });
  let isAnswered = false;
  try {
    return await new Promise<string>((resolve, reject) => {
      reader.once("line", (line) => {
        isAnswered = true;
        resolve(line);
      });
      const giveUp = (): void => reject(interruptedSignIn());
      reader.once("SIGINT", giveUp);
      reader.once("close", giveUp);
    });
  } finally {
    reader.close();
    if (isHidden || !isAnswered) output.write("\n");
  }
}

function interruptedSignIn(): GraphformError {
  return new GraphformError("interrupted", "interrupted: nobody was signed in", {
    exitCode: exitCodes.interrupted,
  });
}
