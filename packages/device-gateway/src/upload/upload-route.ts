import { badRequest, type Route } from '@svc/connector-kit';
import { admit } from '../device/holder.ts';
import { ownKey, queryOf, type Gateway } from '../gateway.ts';
import { reply } from '../http/reply.ts';
import type { OwnFiles } from './own-files.ts';

const maxBytes = 100 * 1024 * 1024;

/** `POST /gw/upload?filename=…`: a file of the device, streamed to the core. */
export const createUploadRoute = (gateway: Gateway, files: OwnFiles): Route => ({
  method: 'POST',
  path: '/gw/upload',
  doc: { summary: 'Uploads a file', needsKey: true },
  streamsBody: { maxBytes },
  async handle(exchange) {
    const device = gateway.authenticate(exchange);
    await admit(gateway, device);
    const name = queryOf(exchange, 'filename');
    if (name === null || name === '' || name.length > 255)
      throw badRequest('The file name is required: /gw/upload?filename=photo.jpg');
    const mime = queryOf(exchange, 'mime');
    const file = await gateway.ctx.uploads.save({
      name,
      ...(mime !== null && mime !== '' && { mime }),
      data: exchange.body,
      conversation_key: ownKey(gateway, device),
      maxBytes,
    });
    await files.add(device.device_id, file);
    reply(exchange, { ok: true, file });
  },
});
