import { queueFull } from '@svc/service-kit/service-error.ts';
import { createChunkedUploads } from './chunked-uploads.ts';
import type { UploadsApi } from './connector.ts';
import { createFileOpener, type FileTickets } from './open-file.ts';
import { createUploadTransport, fileOf, type UploadTransport, type UploadTransportOptions } from './upload-transport.ts';

const maxAtOnce = 8;

/**
 * Sends files from a channel to the core's upload area: streamed, so that no file is held in memory. Every rejection is a `ServiceError`;
 * the core removes the received part of a failed file.
 */
export function createUploads(options: UploadTransportOptions & { tickets: FileTickets }): UploadsApi {
  const send = atOnce(createUploadTransport(options));
  return {
    open: createFileOpener(options),
    chunked: createChunkedUploads(send),
    async save({ name, mime, conversation_key, data, maxBytes }) {
      const query = { filename: name, mime, conversation_key };
      const body = await send({ method: 'POST', path: '/v2/upload', query, data, ...(maxBytes !== undefined && { maxBytes }) });
      return fileOf(body);
    },
  };
}

function atOnce(send: UploadTransport): UploadTransport {
  let running = 0;
  return async (request) => {
    if (running >= maxAtOnce) throw queueFull('Too many files are being saved at once. Try again in a moment.');
    running++;
    try {
      return await send(request);
    } finally {
      running--;
    }
  };
}
