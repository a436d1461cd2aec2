import { parentPort, workerData } from 'node:worker_threads';
import { discardBroken, openSearchIndex, type SearchIndex } from './search-index.ts';
import type { Numbered, SearchQuestion, SearchReply } from './search-messages.ts';

/** Runs in a separate thread, so that reading many rows does not delay the storing of events. */
const files = workerData as { eventFile: string; indexFile: string };
let index: SearchIndex | null = null;

parentPort?.on('message', (question: Numbered<SearchQuestion>) => {
  const { number } = question;
  let reply: SearchReply;
  try {
    index ??= openSearchIndex(files);
    reply = { number, value: answer(index, question) };
  } catch (error) {
    index?.close();
    index = null;
    reply = { number, error: discardBroken(files, error) };
  }
  parentPort?.postMessage(reply);
});

function answer(open: SearchIndex, question: SearchQuestion): unknown {
  if (question.type === 'index') return open.index(question.limit);
  if (question.type === 'find') return open.find(question);
  if (question.type === 'usage') return open.sumUsage(question.fromHour);
  open.remove(question.seqs);
  return null;
}
