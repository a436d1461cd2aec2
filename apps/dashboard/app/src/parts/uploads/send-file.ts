import { uploadFile } from '@svc/chat-ui/outbox/upload-file.ts';
import { unfinishedUpload, forgetUnfinishedUpload, keepUnfinishedUpload } from './unfinished-uploads.ts';
import { uploadCalls } from './upload-calls.ts';

/** A file whose type the browser does not know. */
const anyType = 'application/octet-stream';

/**
 * Uploads a file. An interrupted upload continues when the same file is chosen again, also after a reload. `onPart` gets the size of each
 * chunk that arrived, in bytes.
 */
export async function sendFile(file: File, onPart: (bytes: number) => void): Promise<void> {
  const calls = uploadCalls(null);
  const outgoing = { name: file.name, mime: file.type || anyType, blob: file, path: null, upload_id: unfinishedUpload(file) };
  const counted: typeof calls = {
    ...calls,
    async chunk(id, index, bytes) {
      const answer = await calls.chunk(id, index, bytes);
      onPart(bytes.size);
      return answer;
    },
    async state(id) {
      const state = await calls.state(id);
      onPart(Math.min(file.size, state.received.length * state.chunk_size));
      return state;
    },
  };
  await uploadFile(counted, outgoing, file, async () => keepUnfinishedUpload(file, outgoing.upload_id ?? ''));
  forgetUnfinishedUpload(file);
}
