import { callRaw } from './api.ts';

const downloadMs = 30 * 60_000;
const keptMs = 60_000;

/**
 * Has the browser save a file of the service. It needs the token of the login, so no link leads to it; and whatever the file is, it is nothing but
 * bytes here: no HTML or SVG that a person sent is opened as a page.
 * @throws ApiFault, AwayFault
 */
export async function download(path: string, name: string): Promise<void> {
  const response = await callRaw('GET', path, { timeoutMs: downloadMs });
  const url = URL.createObjectURL(new Blob([await response.blob()], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser begins to save it later.
  setTimeout(() => URL.revokeObjectURL(url), keptMs);
}
