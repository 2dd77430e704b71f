/** The database processes could not do what they were told. The message is for people and holds no secret. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly code: "engine-missing" | "engine-start" | "engine-refused";

  constructor(code: EngineError["code"], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
