import { Button, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Dialog } from "#lib/components/Dialog.tsx";
import { ErrorState, ProblemNote } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { formatBytes } from "#lib/counts.ts";
import { saveFile } from "#lib/saveFile.ts";
import { explain, explainIfAny } from "../engine/messages.ts";
import { fileOf, type Schemas, useEdge } from "../operator/client.ts";
import { useVerification } from "../people/queries.ts";
import classes from "./VerificationDocuments.module.css";

type OperatedDocument = Schemas["OperatedDocumentResponse"];
type Verification = Schemas["VerificationResponse"];

const KINDS: Readonly<Record<OperatedDocument["kind"], string>> = {
  identity_front: "Identity document, front",
  identity_back: "Identity document, back",
  proof_of_address: "Proof of address",
  selfie: "Picture of the user",
};
const PDF = "application/pdf";
const REASON_LENGTH_MIN = 3;
const REASON_LENGTH_MAX = 200;
/** A picture is drawn with at most so many pixels a side. */
const SIDE_MAX = 2400;
const CLOSE = { "aria-label": "Close" };

/** What a user stated. */
export function VerificationInformation({ stated }: { stated: Verification["information"] }) {
  if (stated === null) return <p>The user has stated nothing.</p>;
  return (
    <p>
      {stated.firstName} {stated.lastName}, born {stated.dateOfBirth}
      <br />
      {stated.street}, {stated.postalCode} {stated.city}, {stated.country}
    </p>
  );
}

/** The documents of a user, each shown or saved when it is asked for. The trail notes each look, with the reason. */
export function VerificationDocuments({
  userId,
  documents,
}: {
  userId: string;
  documents: readonly OperatedDocument[];
}) {
  const edge = useEdge();
  const [reason, setReason] = useState("to decide on the verification");
  const [shown, setShown] = useState<{ document: OperatedDocument; picture: ImageBitmap } | null>(null);
  const look = useMutation({
    mutationFn: async (document: OperatedDocument) => {
      const query = new URLSearchParams({ reason: reason.trim() });
      const path = `/operator/verifications/${encodeURIComponent(userId)}/documents/${document.id}`;
      const content = await fileOf(edge, `${path}?${query.toString()}`);
      if (document.mediaType === PDF) {
        saveFile(content, `${document.kind.replaceAll("_", "-")}-${document.id}.pdf`);
        return;
      }
      setShown({ document, picture: await createImageBitmap(content) });
    },
  });
  if (documents.length === 0) return <p>The user has uploaded no documents.</p>;
  return (
    <div className={classes.stack}>
      <TextInput
        label="Why you look at a document"
        description="The audit trail keeps it with each look."
        value={reason}
        maxLength={REASON_LENGTH_MAX}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <ul className={classes.list} aria-label="Documents">
        {documents.map((document) => (
          <li key={document.id} className={classes.document}>
            <div className={classes.about}>
              <span>
                {KINDS[document.kind]}
                {document.isOfThisCheck ? "" : ", of an earlier check"}
              </span>
              <span className={classes.facts}>
                {document.name ?? "without a name"} · {formatBytes(BigInt(document.size))} ·{" "}
                <TimeText milliseconds={Date.parse(document.uploadedAt)} />
              </span>
            </div>
            <Button
              size="xs"
              variant="default"
              disabled={reason.trim().length < REASON_LENGTH_MIN}
              loading={look.isPending && look.variables.id === document.id}
              aria-label={`${document.mediaType === PDF ? "Save" : "Show"}: ${KINDS[document.kind]}, ${document.name ?? document.id}`}
              onClick={() => look.mutate(document)}
            >
              {document.mediaType === PDF ? "Save" : "Show"}
            </Button>
          </li>
        ))}
      </ul>
      {look.error && <ProblemNote problem={explain(look.error)} />}
      {shown && (
        <Dialog
          title={KINDS[shown.document.kind]}
          size="xl"
          closeButtonProps={CLOSE}
          onClose={() => setShown(null)}
        >
          <Picture picture={shown.picture} name={KINDS[shown.document.kind]} />
        </Dialog>
      )}
    </div>
  );
}

/** A picture, drawn: it never gets an address of its own, so that nothing in it can run or be linked to. */
function Picture({ picture, name }: { picture: ImageBitmap; name: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scale = Math.min(1, SIDE_MAX / Math.max(picture.width, picture.height));
  const width = Math.max(1, Math.round(picture.width * scale));
  const height = Math.max(1, Math.round(picture.height * scale));
  useEffect(() => {
    canvas.current?.getContext("2d")?.drawImage(picture, 0, 0, width, height);
  }, [picture, width, height]);
  return (
    <canvas
      ref={canvas}
      width={width}
      height={height}
      className={classes.picture}
      role="img"
      aria-label={name}
    />
  );
}

/** What a user stated and uploaded, for those who may read it and not decide. */
export function VerificationDocumentsDialog({ userId, onClose }: { userId: string; onClose: () => void }) {
  const query = useVerification(userId);
  const problem = explainIfAny(query.error);
  return (
    <Dialog title="Verification of the user" size="lg" closeButtonProps={CLOSE} onClose={onClose}>
      {problem && <ErrorState problem={problem} />}
      {query.data && (
        <>
          <VerificationInformation stated={query.data.information} />
          <VerificationDocuments userId={userId} documents={query.data.documents} />
        </>
      )}
    </Dialog>
  );
}
