/** Sends a document of the verification, and tells how much of it has arrived: `fetch` cannot say that of an upload. */
import { bearer, type Exchange, type Schemas } from "../api/client.ts";
import { RefusedError, UnreachableError } from "../api/errors.ts";
import { sendableName } from "./documentName.ts";

export type KycDocument = Schemas["KycDocumentResponse"];
export type DocumentKind = KycDocument["kind"];

/** The types of file that the exchange takes. */
export const MEDIA_TYPES = ["image/jpeg", "image/png", "image/webp", "application/pdf"] as const;

const UPLOAD_MS_MAX = 130_000;

export interface Upload {
  kind: DocumentKind;
  file: File;
  /** The document that this one takes the place of. */
  replaces: string | null;
}

/** Send a document. `onProgress` gets the share that was sent, up to 1. Throws RefusedError or UnreachableError. */
export async function uploadDocument(
  { restUrl, freshToken }: Exchange,
  { kind, file, replaces }: Upload,
  onProgress: (share: number) => void,
): Promise<KycDocument> {
  const query = new URLSearchParams({ kind, name: sendableName(file.name) });
  if (replaces !== null) query.set("replaces", replaces);
  const token = await freshToken();
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `${restUrl}/api/v1/kyc/documents?${query.toString()}`);
    request.timeout = UPLOAD_MS_MAX;
    if (token !== null) request.setRequestHeader("Authorization", bearer(token));
    request.setRequestHeader("Content-Type", file.type);
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    request.onload = () => {
      const body = parsed(request.responseText);
      if (request.status === 200 || request.status === 201) resolve(body as KycDocument);
      else reject(new RefusedError(request.status, body, null));
    };
    request.onerror = request.ontimeout = () => reject(new UnreachableError(new URL(restUrl).origin, false));
    request.send(file);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
