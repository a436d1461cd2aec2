import { startReader, type StartedReader } from '@svc/store/database-reader.ts';

/** The time limit for each database. One of several GB takes longer. */
export const readWithinMs = 60_000;

/** Starts the process that will read the databases, while the settings with their location are loaded. */
export const startDatabaseReader = (): StartedReader => startReader({ timeoutMs: readWithinMs });
