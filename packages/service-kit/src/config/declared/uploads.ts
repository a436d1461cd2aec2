import { setting } from '../setting.ts';
import { bytes } from '../setting-types.ts';

/** Settings: uploaded files. */
export const uploadSettings = {
  rawBodyBytes: setting('SVC_RAW_BODY_LIMIT', bytes(), {
    text: 'How large a file may be that is sent as one body: 1024mb, 2gb or a number of bytes.',
    default: '1024mb',
  }),
  uploadChunkBytes: setting('SVC_UPLOAD_CHUNK_SIZE', bytes(), { text: 'Size of the chunks of an upload.', default: '8mb' }),
  uploadMaxChunkBytes: setting('SVC_UPLOAD_MAX_CHUNK', bytes(), {
    text: 'How large one chunk may be. A reverse proxy must let as much through.',
    default: '64mb',
  }),
  uploadMaxBytes: setting('SVC_UPLOAD_MAX_SIZE', bytes(), {
    text: 'How large a file may be that is sent in chunks.',
    default: '128gb',
  }),
};
