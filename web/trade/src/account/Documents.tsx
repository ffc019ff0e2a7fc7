import { Button, FileButton, Progress } from "@mantine/core";
import { UploadIcon } from "@primer/octicons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Badge } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { type Problem, ErrorState, ProblemNote } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { formatBytes } from "#lib/counts.ts";
import { t, texts } from "#lib/language.ts";
import { returned, type Schemas, useExchange } from "../api/client.ts";
import { explain, type OwnWords } from "../api/messages.ts";
import {
  type DocumentKind,
  type KycDocument,
  MEDIA_TYPES,
  type Upload,
  uploadDocument,
} from "./documentUpload.ts";
import classes from "./Documents.module.css";
import { DOCUMENTS, useDocuments } from "./queries.ts";

type FoundDocuments = Schemas["KycDocumentsResponse"];

const KINDS: readonly (readonly [kind: DocumentKind, title: string, hint: string])[] = texts([
  [
    "identity_front",
    "Identity document, front",
    "A passport's page with the picture, or the front of an identity card.",
  ],
  ["identity_back", "Identity document, back", "The back of an identity card. A passport needs none."],
  ["proof_of_address", "Proof of address", "A bill or a statement of a bank, with your name and address."],
  ["selfie", "Picture of yourself", "Your face, with the identity document beside it."],
]);

const OWN_WORDS: OwnWords = texts({
  codes: {
    KYC_DOCUMENT_INVALID: [
      "The file cannot be used",
      "Take the picture again, or save the document as JPEG, PNG, WebP or PDF.",
    ],
    KYC_DOCUMENTS_MAX: ["There are too many documents", "Replace or withdraw one of them."],
    KYC_DOCUMENTS_BYTES_MAX: [
      "Your documents take too much room",
      "Withdraw one that waits, or send a smaller file.",
    ],
    KYC_CHECK_NOT_OPEN: [
      "No documents are taken now",
      "Reload the page: it shows where your verification stands.",
    ],
    KYC_DOCUMENT_DECIDED: [
      "The document stays as it is",
      "It was decided on. Reload the page to see the outcome.",
    ],
    KYC_DOCUMENT_NOT_FOUND: ["The document is gone", "Reload the page to see your documents."],
    KYC_UPLOAD_IN_PROGRESS: ["Another upload is under way", "Wait until it has ended, then try again."],
    KYC_UPLOADS_BUSY: ["Too many documents arrive now", "Try again in a minute."],
    KYC_STORAGE_FULL: [
      "The exchange has no place for documents now",
      "Try again later, or ask the operator.",
    ],
  },
  reasons: [],
});

/** The documents of an open check: uploaded, replaced and withdrawn until somebody has decided. */
export function Documents() {
  const query = useDocuments();
  if (query.error) return <ErrorState problem={explain(query.error)} onRetry={() => void query.refetch()} />;
  if (query.data?.provider !== null) return null;
  return <DocumentsCard found={query.data} />;
}

function DocumentsCard({ found }: { found: FoundDocuments }) {
  const exchange = useExchange();
  const client = useQueryClient();
  const [share, setShare] = useState(0);
  const [unfit, setUnfit] = useState<Problem | null>(null);
  const [touched, setTouched] = useState<DocumentKind | null>(null);
  const refresh = () => client.invalidateQueries({ queryKey: DOCUMENTS });
  const send = useMutation({
    mutationFn: (upload: Upload) => uploadDocument(exchange, upload, setShare),
    onMutate: () => setShare(0),
    onSuccess: () => toastDone(t("The document has arrived")),
    onSettled: refresh,
  });
  const withdraw = useMutation({
    mutationFn: ({ id: documentId }: KycDocument) =>
      returned(
        exchange.rest.DELETE("/api/v1/kyc/documents/{documentId}", { params: { path: { documentId } } }),
      ),
    onSuccess: () => toastDone(t("The document is withdrawn")),
    onSettled: refresh,
  });
  const choose = (kind: DocumentKind, replaces: string | null) => (file: File) => {
    send.reset();
    withdraw.reset();
    setTouched(kind);
    const problem = problemOf(file, found.bytesMax);
    setUnfit(problem);
    if (problem === null) send.mutate({ kind, file, replaces });
  };
  const error = send.error ?? withdraw.error;
  const problem = unfit ?? (error === null ? null : explain(error, OWN_WORDS));
  const isBusy = send.isPending || withdraw.isPending;
  return (
    <Card title={t("Your documents")}>
      <p className={classes.hint}>
        {t("JPEG, PNG, WebP or PDF, up to {size} each. Nobody but those who check them sees them.", {
          size: formatBytes(BigInt(found.bytesMax)),
        })}
      </p>
      <ul className={classes.kinds}>
        {KINDS.map(([kind, title, hint]) => (
          <li key={kind} className={classes.kind}>
            <div className={classes.head}>
              <div>
                <h3 className={classes.title}>{t(title)}</h3>
                <p className={classes.hint}>{t(hint)}</p>
              </div>
              {found.isTaken && (
                <ChooseFile
                  label={t("Upload: {title}", { title: t(title) })}
                  inputLabel={t("File: {title}", { title: t(title) })}
                  disabled={isBusy}
                  onChoose={choose(kind, null)}
                >
                  {t("Upload")}
                </ChooseFile>
              )}
            </div>
            {send.isPending && send.variables.kind === kind && (
              <Progress.Root size="lg" className={classes.progress}>
                <Progress.Section
                  value={share * 100}
                  aria-label={t("Uploading {name}", { name: send.variables.file.name })}
                />
              </Progress.Root>
            )}
            {found.documents
              .filter((document) => document.kind === kind)
              .map((document) => (
                <DocumentRow
                  key={document.id}
                  document={document}
                  mayChange={found.isTaken && document.decidedAt === null}
                  isBusy={isBusy}
                  onReplace={choose(kind, document.id)}
                  onWithdraw={() => {
                    setUnfit(null);
                    setTouched(kind);
                    send.reset();
                    withdraw.mutate(document);
                  }}
                />
              ))}
            {problem && touched === kind && <ProblemNote problem={problem} />}
          </li>
        ))}
      </ul>
    </Card>
  );
}

interface DocumentRowProps {
  document: KycDocument;
  mayChange: boolean;
  isBusy: boolean;
  onReplace: (file: File) => void;
  onWithdraw: () => void;
}

function DocumentRow({ document, mayChange, isBusy, onReplace, onWithdraw }: DocumentRowProps) {
  const name = document.name ?? t("Document without a name");
  return (
    <div className={classes.document}>
      <div className={classes.about}>
        <span className={classes.name}>{name}</span>
        <span className={classes.facts}>
          {formatBytes(BigInt(document.size))} · <TimeText milliseconds={Date.parse(document.uploadedAt)} />
        </span>
      </div>
      {mayChange ? (
        <div className={classes.actions}>
          <ChooseFile
            label={t("Replace {name}", { name })}
            inputLabel={t("File instead of {name}", { name })}
            disabled={isBusy}
            onChoose={onReplace}
          >
            {t("Replace")}
          </ChooseFile>
          <Button
            size="xs"
            variant="default"
            disabled={isBusy}
            aria-label={t("Withdraw the document {name}", { name })}
            onClick={onWithdraw}
          >
            {t("Withdraw the document")}
          </Button>
        </div>
      ) : (
        <Badge tone="neutral" shape="●">
          {t("Arrived")}
        </Badge>
      )}
    </div>
  );
}

interface ChooseFileProps {
  label: string;
  inputLabel: string;
  disabled: boolean;
  onChoose: (file: File) => void;
  children: string;
}

function ChooseFile({ label, inputLabel, disabled, onChoose, children }: ChooseFileProps) {
  const forget = useRef<() => void>(null);
  return (
    <FileButton
      accept={MEDIA_TYPES.join(",")}
      disabled={disabled}
      resetRef={forget}
      onChange={(file) => {
        // Else the browser would not tell that the same file was chosen again, once it is corrected.
        forget.current?.();
        if (file !== null) onChoose(file);
      }}
      inputProps={{ "aria-label": inputLabel }}
    >
      {(props) => (
        <Button
          {...props}
          size="xs"
          variant="default"
          aria-label={label}
          leftSection={<UploadIcon />}
          disabled={disabled}
        >
          {children}
        </Button>
      )}
    </FileButton>
  );
}

/** Why a file need not be sent: the exchange would refuse it. */
function problemOf(file: File, bytesMax: number): Problem | null {
  if (file.size > bytesMax)
    return {
      title: t("The file is too large"),
      detail: t("{name} has {size}", { name: file.name, size: formatBytes(BigInt(file.size)) }),
      advice: t("A document has up to {size}. Take the picture in a lower quality, or save it smaller.", {
        size: formatBytes(BigInt(bytesMax)),
      }),
    };
  if (!MEDIA_TYPES.some((type) => type === file.type))
    return {
      title: t("The file cannot be used"),
      detail: file.name,
      advice: t("Take the picture again, or save the document as JPEG, PNG, WebP or PDF."),
    };
  return null;
}
