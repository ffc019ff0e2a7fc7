"""The texts of mails and notifications in German, by their English templates (`catalogue.py`)."""

GERMAN: dict[str, str] = {
    "Confirm your email address": "Bestätigen Sie Ihre E-Mail-Adresse",
    "Confirm that this is your email address. It works once, within 24 hours.": (
        "Bestätigen Sie, dass dies Ihre E-Mail-Adresse ist. Es gilt einmal, innerhalb von 24 Stunden."
    ),
    (
        "Did you not register here? Then do not confirm it: somebody else knows the password. If you want the "
        "account, reset the password, which removes what they left in it."
    ): (
        "Haben Sie sich hier nicht registriert? Dann bestätigen Sie nicht: Jemand anders kennt das Passwort. "
        "Wenn Sie das Konto möchten, setzen Sie das Passwort zurück; das entfernt, was darin hinterlassen "
        "wurde."
    ),
    "You have an account already": "Sie haben schon ein Konto",
    (
        "Somebody, perhaps you, tried to register with this email address, which has an account already. Log in with "
        "it, or reset the password if you do not know it any more."
    ): (
        "Jemand, vielleicht Sie, wollte sich mit dieser E-Mail-Adresse registrieren, die schon ein Konto hat. Melden "
        "Sie sich damit an, oder setzen Sie das Passwort zurück, wenn Sie es nicht mehr wissen."
    ),
    "Reset your password": "Setzen Sie Ihr Passwort zurück",
    "Choose a new password. This works once, within 30 minutes. Did you not ask for it? Do nothing.": (
        "Wählen Sie ein neues Passwort. Das geht einmal, innerhalb von 30 Minuten. Haben Sie nicht darum gebeten? "
        "Dann tun Sie nichts."
    ),
    "Too many failed logins: choose a new password": (
        "Zu viele fehlgeschlagene Anmeldungen: Wählen Sie ein neues Passwort"
    ),
    (
        "100 logins in a row have failed. Until you choose a new password, logins from there are refused. Networks "
        "that you have logged in from count on their own. This works once, within 30 minutes; you can ask for "
        "another mail."
    ): (
        "100 Anmeldungen in Folge sind fehlgeschlagen. Bis Sie ein neues Passwort wählen, werden Anmeldungen von "
        "dort abgewiesen. Netze, aus denen Sie sich angemeldet haben, zählen für sich. Das geht einmal, innerhalb "
        "von 30 Minuten; Sie können eine weitere E-Mail anfordern."
    ),
    "Your account is deleted": "Ihr Konto ist gelöscht",
    "Your account and your personal data are deleted. Records of trades and payments stay, without your name.": (
        "Ihr Konto und Ihre persönlichen Daten sind gelöscht. Aufzeichnungen von Handel und Zahlungen bleiben, ohne "
        "Ihren Namen."
    ),
    "Your anti-phishing code: {code}": "Ihr Anti-Phishing-Code: {code}",
    "Token: {token}": "Token: {token}",
    "Deposit credited": "Einzahlung gutgeschrieben",
    "{amount} arrived and can be used.": "{amount} sind angekommen und nutzbar.",
    "Withdrawal requested": "Auszahlung angefragt",
    (
        "A withdrawal of {amount} to {address} was requested. Was it not you? Cancel it on the page of withdrawals, "
        "reset your password and end all sessions."
    ): (
        "Eine Auszahlung von {amount} an {address} wurde angefragt. Waren Sie das nicht? Stornieren Sie sie auf der "
        "Seite der Auszahlungen, setzen Sie Ihr Passwort zurück und beenden Sie alle Sitzungen."
    ),
    (
        "A withdrawal of {amount} was requested. Was it not you? Cancel it on the page of withdrawals, reset your "
        "password and end all sessions."
    ): (
        "Eine Auszahlung von {amount} wurde angefragt. Waren Sie das nicht? Stornieren Sie sie auf der Seite der "
        "Auszahlungen, setzen Sie Ihr Passwort zurück und beenden Sie alle Sitzungen."
    ),
    "Withdrawal completed": "Auszahlung abgeschlossen",
    "Your withdrawal of {amount} has left for its address. Transaction: {transaction}": (
        "Ihre Auszahlung von {amount} ist an ihre Adresse gegangen. Transaktion: {transaction}"
    ),
    "Your withdrawal of {amount} has left for its address.": (
        "Ihre Auszahlung von {amount} ist an ihre Adresse gegangen."
    ),
    "Withdrawal not carried out": "Auszahlung nicht ausgeführt",
    (
        "Your withdrawal of {amount} was not carried out. Its funds are in your account. The page of withdrawals "
        "says why."
    ): (
        "Ihre Auszahlung von {amount} wurde nicht ausgeführt. Ihre Mittel sind in Ihrem Konto. Die Seite der "
        "Auszahlungen sagt, warum."
    ),
    "Withdrawal cancelled": "Auszahlung storniert",
    "Your withdrawal of {amount} was cancelled at your request. Its funds are in your account.": (
        "Ihre Auszahlung von {amount} wurde auf Ihren Wunsch storniert. Ihre Mittel sind in Ihrem Konto."
    ),
    "Conversion completed": "Umtausch abgeschlossen",
    "{paid} became {amount}.": "{paid} wurden zu {amount}.",
    "Payment completed": "Zahlung abgeschlossen",
    "Stake returned": "Stake zurückgezahlt",
    "Your stake of {amount} is in your account again.": "Ihr Stake von {amount} ist wieder in Ihrem Konto.",
    "Staking reward paid": "Staking-Ertrag gezahlt",
    "Staking earned you {amount}.": "Staking brachte Ihnen {amount}.",
    "Plan refunded": "Tarif erstattet",
    "The rest of your plan's credit, {amount}, is yours again.": (
        "Das restliche Guthaben Ihres Tarifs, {amount}, gehört wieder Ihnen."
    ),
    "Plan charged": "Tarif abgebucht",
    "{amount} were taken from your spot account for your plan.": (
        "{amount} wurden für Ihren Tarif von Ihrem Spotkonto abgebucht."
    ),
    "Your plan could not be charged": "Ihr Tarif konnte nicht abgebucht werden",
    "Your spot account does not have {amount} that no order uses: add funds and try again.": (
        "Ihr Spotkonto hat keine {amount}, die kein Auftrag hält: Zahlen Sie ein und versuchen Sie es erneut."
    ),
    "The engine refused the charge of {amount}: {reason}.": "Die Abbuchung von {amount} wurde abgelehnt: {reason}.",
    "Plan {plan} does not exist any more.": "Den Tarif {plan} gibt es nicht mehr.",
    "Asset {asset} does not pay for plan {plan}, only {assets}.": (
        "Mit {asset} lässt sich der Tarif {plan} nicht bezahlen, nur mit {assets}."
    ),
    "Your plan {plan} has ended.": "Ihr Tarif {plan} ist beendet.",
    "Your plan {plan} goes on for now. The charge is tried again on {day}.": (
        "Ihr Tarif {plan} läuft vorerst weiter. Die Abbuchung wird am {day} wiederholt."
    ),
    "Order filled: {symbol}": "Auftrag ausgeführt: {symbol}",
    "Order filled in part: {symbol}": "Auftrag teilweise ausgeführt: {symbol}",
    "Order ended without a trade: {symbol}": "Auftrag ohne Handel beendet: {symbol}",
    "You bought {amount} of {quantity} at {price}, and the order has ended.": (
        "Sie haben {amount} von {quantity} zu {price} gekauft, und der Auftrag ist beendet."
    ),
    "You sold {amount} of {quantity} at {price}, and the order has ended.": (
        "Sie haben {amount} von {quantity} zu {price} verkauft, und der Auftrag ist beendet."
    ),
    "The trigger of your order to buy {quantity} fired, and the order ended without a trade.": (
        "Der Auslöser Ihres Auftrags, {quantity} zu kaufen, hat ausgelöst, und der Auftrag endete ohne Handel."
    ),
    "The trigger of your order to sell {quantity} fired, and the order ended without a trade.": (
        "Der Auslöser Ihres Auftrags, {quantity} zu verkaufen, hat ausgelöst, und der Auftrag endete ohne Handel."
    ),
    "The rest was cancelled at your request.": "Der Rest wurde auf Ihren Wunsch storniert.",
    "The platform cancelled it.": "Die Plattform hat ihn storniert.",
    "Its time was over.": "Seine Zeit war abgelaufen.",
    "The order book offered too little within its limits.": "Das Orderbuch bot innerhalb seiner Grenzen zu wenig.",
    "The order book could not fill it as a whole.": "Das Orderbuch konnte ihn nicht als Ganzes ausführen.",
    "It would have traded with another order of yours.": "Er hätte mit einem anderen Auftrag von Ihnen gehandelt.",
    "Another order of its list traded in its place.": (
        "Ein anderer Auftrag seiner Liste hat an seiner Stelle gehandelt."
    ),
    "The list that it belongs to has ended.": "Die Liste, zu der er gehört, ist beendet.",
    "Your account is not active.": "Ihr Konto ist nicht aktiv.",
    "Its price or its amount had left the range of the market.": (
        "Sein Preis oder sein Betrag lag außerhalb des Bereichs des Marktes."
    ),
    "The engine's reason is {reason}.": "Der Grund der Engine ist {reason}.",
    "You bought {amount} at {price}.": "Sie haben {amount} zu {price} gekauft.",
    "You sold {amount} at {price}.": "Sie haben {amount} zu {price} verkauft.",
    "You bought {amount}.": "Sie haben {amount} gekauft.",
    "You sold {amount}.": "Sie haben {amount} verkauft.",
    "Order refused: {symbol}": "Auftrag abgelehnt: {symbol}",
    "Order {order} was not placed: {reason}.": "Auftrag {order} wurde nicht aufgegeben: {reason}.",
    "Your orders were cancelled by your timer": "Ihr Timer hat Ihre Aufträge storniert",
    (
        "Your timer to cancel all orders ran out at {time} without a renewal, and your open orders were cancelled. "
        "If a program should have renewed it, look whether it is running."
    ): (
        "Ihr Timer zum Stornieren aller Aufträge lief um {time} ohne Verlängerung ab, und Ihre offenen Aufträge "
        "wurden storniert. Falls ein Programm ihn verlängern sollte, sehen Sie nach, ob es läuft."
    ),
    "Your margin account is at risk": "Ihr Margin-Konto ist in Gefahr",
    (
        "The level of margin account {account} fell to {level}. Add collateral or repay a loan: if it falls further, "
        "the account is liquidated."
    ): (
        "Der Stand des Margin-Kontos {account} fiel auf {level}. Bringen Sie Sicherheiten ein oder zahlen Sie einen "
        "Kredit zurück: Fällt er weiter, wird das Konto liquidiert."
    ),
    "Your margin account is being liquidated": "Ihr Margin-Konto wird liquidiert",
    (
        "The level of margin account {account} fell to the liquidation level ({level}). Its positions are closed "
        "step by step near the fair price and its loans are repaid from the proceeds."
    ): (
        "Der Stand des Margin-Kontos {account} fiel auf die Liquidationsgrenze ({level}). Seine Positionen werden "
        "schrittweise nahe dem fairen Preis geschlossen und seine Kredite aus dem Erlös zurückgezahlt."
    ),
    (
        "The level of margin account {account} fell to the liquidation level. Its positions are closed step by step "
        "near the fair price and its loans are repaid from the proceeds."
    ): (
        "Der Stand des Margin-Kontos {account} fiel auf die Liquidationsgrenze. Seine Positionen werden schrittweise "
        "nahe dem fairen Preis geschlossen und seine Kredite aus dem Erlös zurückgezahlt."
    ),
    "Margin position closed: {symbol}": "Margin-Position geschlossen: {symbol}",
    "A liquidation closes your long position of {quantity} ({position}).": (
        "Eine Liquidation schließt Ihre Long-Position von {quantity} ({position})."
    ),
    "A liquidation closes your short position of {quantity} ({position}).": (
        "Eine Liquidation schließt Ihre Short-Position von {quantity} ({position})."
    ),
    "Test of notifications": "Test der Mitteilungen",
    "This device shows what you asked to be told.": "Dieses Gerät zeigt, was Ihnen mitgeteilt werden soll.",
    "Price alert: {symbol}": "Preisalarm: {symbol}",
    "The last trade was at {price}: at or above {bound}. Your note: {note}": (
        "Der letzte Handel war zu {price}: bei oder über {bound}. Ihre Notiz: {note}"
    ),
    "The last trade was at {price}: at or below {bound}. Your note: {note}": (
        "Der letzte Handel war zu {price}: bei oder unter {bound}. Ihre Notiz: {note}"
    ),
    "The fair price is {price}: at or above {bound}. Your note: {note}": (
        "Der faire Preis ist {price}: bei oder über {bound}. Ihre Notiz: {note}"
    ),
    "The fair price is {price}: at or below {bound}. Your note: {note}": (
        "Der faire Preis ist {price}: bei oder unter {bound}. Ihre Notiz: {note}"
    ),
    "The last trade was at {price}: at or above {bound}.": "Der letzte Handel war zu {price}: bei oder über {bound}.",
    "The last trade was at {price}: at or below {bound}.": "Der letzte Handel war zu {price}: bei oder unter {bound}.",
    "The fair price is {price}: at or above {bound}.": "Der faire Preis ist {price}: bei oder über {bound}.",
    "The fair price is {price}: at or below {bound}.": "Der faire Preis ist {price}: bei oder unter {bound}.",
    "A change of your account": "Eine Änderung Ihres Kontos",
    "Was it not you? Reset your password and end all sessions.": (
        "Waren Sie das nicht? Setzen Sie Ihr Passwort zurück und beenden Sie alle Sitzungen."
    ),
    "A session was ended, because one of its tokens was used twice.": (
        "Eine Sitzung wurde beendet, weil eines ihrer Token zweimal benutzt wurde."
    ),
    "Your password was changed. All other sessions have ended.": (
        "Ihr Passwort wurde geändert. Alle anderen Sitzungen sind beendet."
    ),
    "Your password was reset. All sessions have ended.": (
        "Ihr Passwort wurde zurückgesetzt. Alle Sitzungen sind beendet."
    ),
    "Two-factor authentication was enabled.": "Die Zwei-Faktor-Authentifizierung wurde eingeschaltet.",
    "Two-factor authentication was disabled.": "Die Zwei-Faktor-Authentifizierung wurde ausgeschaltet.",
    "A recovery code was used in place of your authenticator app.": (
        "Ein Wiederherstellungscode wurde anstelle Ihrer Authenticator-App benutzt."
    ),
    "Your recovery codes were replaced.": "Ihre Wiederherstellungscodes wurden ersetzt.",
    "Your anti-phishing code was changed. Every mail shows the new one.": (
        "Ihr Anti-Phishing-Code wurde geändert. Jede E-Mail zeigt den neuen."
    ),
    "An API key was made.": "Ein API-Schlüssel wurde erstellt.",
    "An API key got a new secret.": "Ein API-Schlüssel bekam ein neues Geheimnis.",
    "An API key was revoked.": "Ein API-Schlüssel wurde widerrufen.",
    "A withdrawal address was saved, for {asset} on {network}: {address}": (
        "Eine Auszahlungsadresse wurde gespeichert, für {asset} auf {network}: {address}"
    ),
    "A withdrawal address was deleted, for {asset} on {network}: {address}": (
        "Eine Auszahlungsadresse wurde gelöscht, für {asset} auf {network}: {address}"
    ),
    "Tag of the address: {tag}": "Tag der Adresse: {tag}",
    "Withdrawals can go there from {time} on. If you do not know it, delete it on the page of withdrawals.": (
        "Auszahlungen können ab {time} dorthin gehen. Wenn Sie sie nicht kennen, löschen Sie sie auf der Seite der "
        "Auszahlungen."
    ),
    "Your account is an administrator's from your next login on.": (
        "Ihr Konto ist ab Ihrer nächsten Anmeldung das eines Administrators."
    ),
    "Your account is no administrator's any more. All sessions have ended.": (
        "Ihr Konto ist nicht mehr das eines Administrators. Alle Sitzungen sind beendet."
    ),
    "New login to your account": "Neue Anmeldung bei Ihrem Konto",
    "Somebody logged in from {address}, with {program}.": "Jemand hat sich von {address} angemeldet, mit {program}.",
    "Somebody logged in from {address}.": "Jemand hat sich von {address} angemeldet.",
    "The platform has locked your login. All sessions have ended, and API keys rest.": (
        "Die Plattform hat Ihre Anmeldung gesperrt. Alle Sitzungen sind beendet, und API-Schlüssel ruhen."
    ),
    "You can log in again.": "Sie können sich wieder anmelden.",
    "The platform has locked your withdrawals. Those under way wait.": (
        "Die Plattform hat Ihre Auszahlungen gesperrt. Laufende warten."
    ),
    "Verification closed": "Verifizierung geschlossen",
    (
        "Your verification was closed, because nothing has happened in it for a long time. Its documents were deleted. "
        "You can start it again."
    ): (
        "Ihre Verifizierung wurde geschlossen, weil darin lange nichts geschehen ist. Ihre Dokumente wurden gelöscht. "
        "Sie können sie neu beginnen."
    ),
    "Verification approved": "Verifizierung bestätigt",
    (
        "Your verification was approved. The page of verification shows your level, and what you can withdraw in a day."
    ): (
        "Ihre Verifizierung wurde bestätigt. Die Seite der Verifizierung zeigt Ihre Stufe, und was Sie an einem Tag "
        "auszahlen können."
    ),
    "Verification needs more from you": "Verifizierung braucht mehr von Ihnen",
    (
        "Your verification was not approved as it is. Start it again on the page of verification, with what is "
        "missing or not readable."
    ): (
        "Ihre Verifizierung wurde so nicht bestätigt. Beginnen Sie sie auf der Seite der Verifizierung neu, mit dem, "
        "was fehlt oder nicht lesbar ist."
    ),
    "Verification rejected": "Verifizierung abgelehnt",
    (
        "Your verification was rejected for good, so it cannot be started again. If you think that this is wrong, ask"
        " support."
    ): (
        "Ihre Verifizierung wurde endgültig abgelehnt und kann nicht neu begonnen werden. Wenn Sie das für falsch "
        "halten, fragen Sie den Support."
    ),
    "Your level of verification is lower than before, and so is what you can withdraw in a day.": (
        "Ihre Stufe der Verifizierung ist niedriger als zuvor, und damit auch, was Sie an einem Tag auszahlen können."
    ),
    "You can withdraw again.": "Sie können wieder auszahlen.",
    ("The platform has removed your second factor, as support was asked to. All sessions have ended."): (
        "Die Plattform hat Ihren zweiten Faktor entfernt, worum der Support gebeten wurde. Alle Sitzungen sind beendet."
    ),
    "The platform has revoked API keys of yours. Programs that use them have stopped.": (
        "Die Plattform hat API-Schlüssel von Ihnen widerrufen. Programme, die sie verwenden, sind angehalten."
    ),
    "Your API keys were revoked, because they were made before anybody had proved to own this email address.": (
        "Ihre API-Schlüssel wurden widerrufen, weil sie entstanden, bevor jemand nachgewiesen hatte, dass ihm "
        "diese E-Mail-Adresse gehört."
    ),
    (
        "Your saved withdrawal addresses were deleted, because they were saved before anybody had proved to "
        "own this email address."
    ): (
        "Ihre gespeicherten Auszahlungsadressen wurden gelöscht, weil sie gespeichert wurden, bevor jemand "
        "nachgewiesen hatte, dass ihm diese E-Mail-Adresse gehört."
    ),
    (
        "Two-factor authentication was removed, because it was enabled before anybody had proved to own this "
        "email address. Enable it again."
    ): (
        "Die Zwei-Faktor-Authentifizierung wurde entfernt, weil sie eingeschaltet wurde, bevor jemand "
        "nachgewiesen hatte, dass ihm diese E-Mail-Adresse gehört. Schalten Sie sie wieder ein."
    ),
    (
        "Your anti-phishing code was removed, because it was chosen before anybody had proved to own this "
        "email address."
    ): (
        "Ihr Anti-Phishing-Code wurde entfernt, weil er gewählt wurde, bevor jemand nachgewiesen hatte, dass "
        "ihm diese E-Mail-Adresse gehört."
    ),
    "The platform has ended sessions of yours. Log in again.": (
        "Die Plattform hat Sitzungen von Ihnen beendet. Melden Sie sich neu an."
    ),
    "Balance adjusted": "Guthaben angepasst",
    "{amount} were added to your balance by the platform. Ask its support why.": (
        "{amount} hat die Plattform Ihrem Guthaben hinzugefügt. Den Grund nennt Ihnen der Support."
    ),
    "{amount} were taken from your balance by the platform. Ask its support why.": (
        "{amount} hat die Plattform Ihrem Guthaben entnommen. Den Grund nennt Ihnen der Support."
    ),
    "Position without its exits: {symbol}": "Position ohne ihre Ausstiege: {symbol}",
    (
        "The entry of your order list {list} has filled {quantity} for which its exits could not be placed: your "
        "account does not have the funds that they need. What was left of the entry is cancelled. Look whether "
        "this position needs other orders."
    ): (
        "Der Einstieg Ihrer Auftragsliste {list} hat {quantity} ausgeführt, für die ihre Ausstiege nicht gelegt "
        "werden konnten: Ihrem Konto fehlt das Guthaben dafür. Was vom Einstieg übrig war, ist storniert. Prüfen "
        "Sie, ob diese Position andere Aufträge braucht."
    ),
    (
        "The entry of your order list {list} has filled {quantity} for which its exits could not be placed: your "
        "account is not active. What was left of the entry is cancelled. Look whether this position needs other "
        "orders."
    ): (
        "Der Einstieg Ihrer Auftragsliste {list} hat {quantity} ausgeführt, für die ihre Ausstiege nicht gelegt "
        "werden konnten: Ihr Konto ist nicht aktiv. Was vom Einstieg übrig war, ist storniert. Prüfen Sie, ob "
        "diese Position andere Aufträge braucht."
    ),
    (
        "The entry of your order list {list} has filled {quantity} for which its exits could not be placed: "
        "{reason}. What was left of the entry is cancelled. Look whether this position needs other orders."
    ): (
        "Der Einstieg Ihrer Auftragsliste {list} hat {quantity} ausgeführt, für die ihre Ausstiege nicht gelegt "
        "werden konnten: {reason}. Was vom Einstieg übrig war, ist storniert. Prüfen Sie, ob diese Position andere"
        " Aufträge braucht."
    ),
}
