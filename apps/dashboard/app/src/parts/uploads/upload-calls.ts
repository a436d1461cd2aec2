import type { UploadCalls } from '@svc/chat-ui/outbox/upload-file.ts';
import type { UploadedFile } from '@svc/contract/upload.ts';
import { ApiFault, call, withQuery } from '../api.ts';

const uploadMs = 10 * 60_000;

/** Uploads for one conversation, which nobody else can continue; or for none. */
export function uploadCalls(key: string | null): UploadCalls {
  const of = key === null ? {} : { conversation_key: key };
  const at = (path: string, more = {}) => withQuery(`/core/v2/upload${path}`, { ...of, ...more });
  return {
    whole: ({ name, mime }, body) =>
      call<{ file: UploadedFile }>('POST', at('', { filename: name, mime }), { body, timeoutMs: uploadMs }),
    begin: (file) => call('POST', '/core/v2/upload/init', { body: { ...file, ...of } }),
    state: (id) => call('GET', at(`/${id}`)),
    chunk: (id, index, body) => call('PUT', at(`/${id}/${index}`), { body, timeoutMs: uploadMs }),
    finish: (id) => call('POST', at(`/${id}/finish`)),
    isUnknown: (error) => error instanceof ApiFault && error.status === 404,
  };
}
