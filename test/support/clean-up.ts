import { afterAll } from "vitest";
import { removeTemporaryFolders } from "./temporary-folder.ts";

// Registered before the hooks of the file, and so run after them.
afterAll(removeTemporaryFolders);
