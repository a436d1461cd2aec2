import { startReader, type StartedReader } from '@svc/store/database-reader.ts';

/** For each database. One of several GB takes longer. */
export const readWithinMs = 60_000;

/** What will read the databases: it starts while the settings that say where they lie are loaded. */
export const startDatabaseReader = (): StartedReader => startReader({ timeoutMs: readWithinMs });
