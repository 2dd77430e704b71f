/** @module Defines the errors of database processes. */
/** A failure of the engine. The message is for people and contains no secret. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  /** `user-refused`: the server refuses the rules or the name of a user; `engine-refused`: it cannot do what is asked now. */
  readonly code: "engine-missing" | "engine-start" | "engine-refused" | "user-refused";

  constructor(code: EngineError["code"], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** True where a server ended at its start because of its data files: it was not killed, and did not lack time or disk space. */
export function isAboutData(error: unknown): error is EngineError {
  return (
    error instanceof EngineError &&
    error.code === "engine-start" &&
    error.message.includes("did not start") &&
    /append.?only|\bAOF\b|\bRDB\b|\bDB\b|signature|loading/i.test(error.message) &&
    !/no space left|config file error/i.test(error.message)
  );
}
