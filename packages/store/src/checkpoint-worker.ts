import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/** Runs in a thread of its own: each message asks for one checkpoint, each answer says that it is over. */
const db = new DatabaseSync((workerData as { file: string }).file, { timeout: 5000 });
parentPort?.on('message', () => {
  db.exec('PRAGMA wal_checkpoint(PASSIVE)');
  parentPort?.postMessage('done');
});
