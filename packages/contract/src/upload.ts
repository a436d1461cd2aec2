/** The kinds of files, by MIME type; `recording` is a spoken clip. */
export const fileKinds = ['image', 'audio', 'video', 'text', 'document', 'archive', 'recording', 'other'] as const;
export type FileKind = (typeof fileKinds)[number];

/** A file of the upload area (spec: Uploaded file). `id` is for the routes, `path` is absolute, `name` what its sender called it. */
export type UploadedFile = {
  id: string;
  path: string;
  name: string;
  mime: string;
  kind: FileKind;
  bytes: number;
  sha256: string;
};

/** One line of the manifest: a file, where it came from and when (epoch ms). */
export type ManifestEntry = UploadedFile & {
  conversation_key: string | null;
  created_at: number;
  /** Only in the line that records the deletion. */
  deleted_at?: number;
};

/** Answer of `DELETE /v2/uploads/:id`. */
export type DeletedUpload = {
  ok: true;
  file: UploadedFile;
  deleted_at: number;
  /** True when a conversation that received it keeps its own link to it until it is forgotten. */
  kept_by_conversations: boolean;
};

/** An unfinished chunked upload (spec: Uploaded file). `received` lists the stored chunks, in ascending order. */
export type UploadState = {
  upload_id: string;
  size: number;
  chunk_size: number;
  chunks: number;
  received: number[];
  /** The file, once the upload is finished. */
  file?: UploadedFile;
};

/** The header for the ticket of a file that was sent through a connector. */
export const fileTicketHeader = 'x-file-ticket';
