import { forbidden, type Attachment, type ConnectorState } from '@svc/connector-kit';
import type { UploadedFile } from '@svc/contract/upload.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';

/** Remembers which device uploaded which files, because a device may only send its own. */
export type OwnFiles = {
  add(deviceId: string, file: UploadedFile): Promise<void>;
  /** @throws ServiceError `forbidden` for a file that the device has not uploaded */
  attachment(deviceId: string, path: string): Attachment;
  forget(deviceId: string): Promise<void>;
};

type Kept = { device: string; path: string; name: string; mime: string; bytes: number };

const key = 'files';
const maxKept = 5_000;

export async function openOwnFiles(state: ConnectorState): Promise<OwnFiles> {
  const files = new Map(((await state.get<Kept[]>(key)) ?? []).map((file) => [file.path, file]));
  return {
    async add(device, { path, name, mime, bytes }) {
      const file = { device, path, name, mime, bytes };
      await state.append(key, file, maxKept);
      files.set(path, file);
      forgetOldest(files, maxKept);
    },
    attachment(device, path) {
      const file = files.get(path);
      if (file?.device !== device)
        throw forbidden('This file is unknown: it was not uploaded by this device, or it has expired. Upload it again.');
      const { name, mime, bytes } = file;
      return { path, name, mime, bytes };
    },
    async forget(device) {
      for (const [path, file] of files) if (file.device === device) files.delete(path);
      await state.set(key, [...files.values()]);
    },
  };
}
