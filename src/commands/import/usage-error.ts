import { GraphformError } from "../../model/errors.ts";

/** The error of an `import` that was told neither of its two forms. */
export function importUsage(message: string): GraphformError {
  return new GraphformError("import-usage", message, {
    hint: "graphform import instances.orders instance-abc, or graphform import --all --out graphform.yaml",
  });
}
