/** @module Creates the error for wrong arguments of `import`. */
import { GraphformError } from "../../model/errors.ts";

/** Error `import-usage`; its hint shows both forms of the command. */
export function usageError(message: string): GraphformError {
  return new GraphformError("import-usage", message, {
    hint: "graphform import instances.orders instance-abc, or graphform import --all --out graphform.yaml",
  });
}
