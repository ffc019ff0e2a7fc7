"""The texts of mails and notifications in Spanish, by their English templates (`catalogue.py`)."""

SPANISH: dict[str, str] = {
    "Confirm your email address": "Confirma tu dirección de correo",
    "Confirm that this is your email address. It works once, within 24 hours.": (
        "Confirma que esta es tu dirección de correo. Sirve una vez, en un plazo de 24 horas."
    ),
    (
        "Did you not register here? Then do not confirm it: somebody else knows the password. If you want the "
        "account, reset the password, which removes what they left in it."
    ): (
        "¿No te registraste aquí? Entonces no la confirmes: otra persona conoce la contraseña. Si quieres la "
        "cuenta, restablece la contraseña, lo que elimina lo que dejó en ella."
    ),
    "You have an account already": "Ya tienes una cuenta",
    (
        "Somebody, perhaps you, tried to register with this email address, which has an account already. Log in with "
        "it, or reset the password if you do not know it any more."
    ): (
        "Alguien, quizá tú, intentó registrarse con esta dirección de correo, que ya tiene una cuenta. Inicia sesión "
        "con ella, o restablece la contraseña si ya no la recuerdas."
    ),
    "Reset your password": "Restablece tu contraseña",
    "Choose a new password. This works once, within 30 minutes. Did you not ask for it? Do nothing.": (
        "Elige una contraseña nueva. Esto sirve una vez, en un plazo de 30 minutos. ¿No lo pediste tú? No hagas nada."
    ),
    "Too many failed logins: choose a new password": (
        "Demasiados inicios de sesión fallidos: elige una contraseña nueva"
    ),
    (
        "100 logins in a row have failed. Until you choose a new password, logins from there are refused. Networks "
        "that you have logged in from count on their own. This works once, within 30 minutes; you can ask for "
        "another mail."
    ): (
        "Han fallado 100 inicios de sesión seguidos. Hasta que elijas una contraseña nueva, se rechazan los inicios "
        "de sesión desde allí. Las redes desde las que has entrado cuentan por separado. Esto sirve una vez, en un "
        "plazo de 30 minutos; puedes pedir otro correo."
    ),
    "Your account is deleted": "Tu cuenta está eliminada",
    "Your account and your personal data are deleted. Records of trades and payments stay, without your name.": (
        "Tu cuenta y tus datos personales están eliminados. Los registros de operaciones y pagos permanecen, sin tu "
        "nombre."
    ),
    "Your anti-phishing code: {code}": "Tu código antiphishing: {code}",
    "Token: {token}": "Token: {token}",
    "Deposit credited": "Depósito acreditado",
    "{amount} arrived and can be used.": "{amount} llegaron y se pueden usar.",
    "Withdrawal requested": "Retiro solicitado",
    (
        "A withdrawal of {amount} to {address} was requested. Was it not you? Cancel it on the page of withdrawals, "
        "reset your password and end all sessions."
    ): (
        "Se solicitó un retiro de {amount} a {address}. ¿No fuiste tú? Cancélalo en la página de retiros, restablece "
        "tu contraseña y termina todas las sesiones."
    ),
    (
        "A withdrawal of {amount} was requested. Was it not you? Cancel it on the page of withdrawals, reset your "
        "password and end all sessions."
    ): (
        "Se solicitó un retiro de {amount}. ¿No fuiste tú? Cancélalo en la página de retiros, restablece tu "
        "contraseña y termina todas las sesiones."
    ),
    "Withdrawal completed": "Retiro completado",
    "Your withdrawal of {amount} has left for its address. Transaction: {transaction}": (
        "Tu retiro de {amount} salió hacia su dirección. Transacción: {transaction}"
    ),
    "Your withdrawal of {amount} has left for its address.": "Tu retiro de {amount} salió hacia su dirección.",
    "Withdrawal not carried out": "Retiro no realizado",
    (
        "Your withdrawal of {amount} was not carried out. Its funds are in your account. The page of withdrawals "
        "says why."
    ): ("Tu retiro de {amount} no se realizó. Sus fondos están en tu cuenta. La página de retiros dice por qué."),
    "Withdrawal cancelled": "Retiro cancelado",
    "Your withdrawal of {amount} was cancelled at your request. Its funds are in your account.": (
        "Tu retiro de {amount} se canceló a petición tuya. Sus fondos están en tu cuenta."
    ),
    "Conversion completed": "Conversión completada",
    "{paid} became {amount}.": "{paid} pasaron a ser {amount}.",
    "Payment completed": "Pago completado",
    "Stake returned": "Stake devuelto",
    "Your stake of {amount} is in your account again.": "Tu stake de {amount} está de nuevo en tu cuenta.",
    "Staking reward paid": "Recompensa de staking pagada",
    "Staking earned you {amount}.": "El staking te dio {amount}.",
    "Plan refunded": "Plan reembolsado",
    "The rest of your plan's credit, {amount}, is yours again.": (
        "El resto del crédito de tu plan, {amount}, vuelve a ser tuyo."
    ),
    "Plan charged": "Plan cobrado",
    "{amount} were taken from your spot account for your plan.": (
        "Se tomaron {amount} de tu cuenta al contado por tu plan."
    ),
    "Your plan could not be charged": "No se pudo cobrar tu plan",
    "Your spot account does not have {amount} that no order uses: add funds and try again.": (
        "Tu cuenta al contado no tiene {amount} que no use ninguna orden: añade fondos e inténtalo de nuevo."
    ),
    "The engine refused the charge of {amount}: {reason}.": "Se rechazó el cobro de {amount}: {reason}.",
    "Plan {plan} does not exist any more.": "El plan {plan} ya no existe.",
    "Asset {asset} does not pay for plan {plan}, only {assets}.": (
        "Con {asset} no se paga el plan {plan}, solo con {assets}."
    ),
    "Your plan {plan} has ended.": "Tu plan {plan} ha terminado.",
    "Your plan {plan} goes on for now. The charge is tried again on {day}.": (
        "Tu plan {plan} sigue por ahora. El cobro se reintenta el {day}."
    ),
    "Order filled: {symbol}": "Orden ejecutada: {symbol}",
    "Order filled in part: {symbol}": "Orden ejecutada en parte: {symbol}",
    "Order ended without a trade: {symbol}": "Orden terminada sin operación: {symbol}",
    "You bought {amount} of {quantity} at {price}, and the order has ended.": (
        "Compraste {amount} de {quantity} a {price}, y la orden ha terminado."
    ),
    "You sold {amount} of {quantity} at {price}, and the order has ended.": (
        "Vendiste {amount} de {quantity} a {price}, y la orden ha terminado."
    ),
    "The trigger of your order to buy {quantity} fired, and the order ended without a trade.": (
        "El disparador de tu orden de compra de {quantity} se disparó, y la orden terminó sin operación."
    ),
    "The trigger of your order to sell {quantity} fired, and the order ended without a trade.": (
        "El disparador de tu orden de venta de {quantity} se disparó, y la orden terminó sin operación."
    ),
    "The rest was cancelled at your request.": "El resto se canceló a petición tuya.",
    "The platform cancelled it.": "La plataforma la canceló.",
    "Its time was over.": "Su plazo había terminado.",
    "The order book offered too little within its limits.": (
        "El libro de órdenes ofrecía muy poco dentro de sus límites."
    ),
    "The order book could not fill it as a whole.": "El libro de órdenes no pudo ejecutarla por completo.",
    "It would have traded with another order of yours.": "Habría operado con otra orden tuya.",
    "Another order of its list traded in its place.": "Otra orden de su lista operó en su lugar.",
    "The list that it belongs to has ended.": "La lista a la que pertenece ha terminado.",
    "Your account is not active.": "Tu cuenta no está activa.",
    "Its price or its amount had left the range of the market.": (
        "Su precio o su importe estaba fuera del rango del mercado."
    ),
    "The engine's reason is {reason}.": "El motivo del motor es {reason}.",
    "You bought {amount} at {price}.": "Compraste {amount} a {price}.",
    "You sold {amount} at {price}.": "Vendiste {amount} a {price}.",
    "You bought {amount}.": "Compraste {amount}.",
    "You sold {amount}.": "Vendiste {amount}.",
    "Order refused: {symbol}": "Orden rechazada: {symbol}",
    "Order {order} was not placed: {reason}.": "La orden {order} no se colocó: {reason}.",
    "Your orders were cancelled by your timer": "Tu temporizador canceló tus órdenes",
    (
        "Your timer to cancel all orders ran out at {time} without a renewal, and your open orders were cancelled. "
        "If a program should have renewed it, look whether it is running."
    ): (
        "Tu temporizador para cancelar todas las órdenes venció a las {time} sin renovarse, y tus órdenes abiertas "
        "se cancelaron. Si un programa debía renovarlo, mira si está funcionando."
    ),
    "Your margin account is at risk": "Tu cuenta de margen está en riesgo",
    (
        "The level of margin account {account} fell to {level}. Add collateral or repay a loan: if it falls further, "
        "the account is liquidated."
    ): (
        "El nivel de la cuenta de margen {account} cayó a {level}. Aporta garantía o devuelve un préstamo: si cae "
        "más, la cuenta se liquida."
    ),
    "Your margin account is being liquidated": "Tu cuenta de margen se está liquidando",
    (
        "The level of margin account {account} fell to the liquidation level ({level}). Its positions are closed "
        "step by step near the fair price and its loans are repaid from the proceeds."
    ): (
        "El nivel de la cuenta de margen {account} cayó al nivel de liquidación ({level}). Sus posiciones se cierran "
        "paso a paso cerca del precio justo y sus préstamos se devuelven con lo obtenido."
    ),
    (
        "The level of margin account {account} fell to the liquidation level. Its positions are closed step by step "
        "near the fair price and its loans are repaid from the proceeds."
    ): (
        "El nivel de la cuenta de margen {account} cayó al nivel de liquidación. Sus posiciones se cierran paso a "
        "paso cerca del precio justo y sus préstamos se devuelven con lo obtenido."
    ),
    "Margin position closed: {symbol}": "Posición de margen cerrada: {symbol}",
    "A liquidation closes your long position of {quantity} ({position}).": (
        "Una liquidación cierra tu posición larga de {quantity} ({position})."
    ),
    "A liquidation closes your short position of {quantity} ({position}).": (
        "Una liquidación cierra tu posición corta de {quantity} ({position})."
    ),
    "Test of notifications": "Prueba de notificaciones",
    "This device shows what you asked to be told.": "Este dispositivo muestra lo que pediste que se te avise.",
    "Price alert: {symbol}": "Alerta de precio: {symbol}",
    "The last trade was at {price}: at or above {bound}. Your note: {note}": (
        "La última operación fue a {price}: en o por encima de {bound}. Tu nota: {note}"
    ),
    "The last trade was at {price}: at or below {bound}. Your note: {note}": (
        "La última operación fue a {price}: en o por debajo de {bound}. Tu nota: {note}"
    ),
    "The fair price is {price}: at or above {bound}. Your note: {note}": (
        "El precio justo es {price}: en o por encima de {bound}. Tu nota: {note}"
    ),
    "The fair price is {price}: at or below {bound}. Your note: {note}": (
        "El precio justo es {price}: en o por debajo de {bound}. Tu nota: {note}"
    ),
    "The last trade was at {price}: at or above {bound}.": (
        "La última operación fue a {price}: en o por encima de {bound}."
    ),
    "The last trade was at {price}: at or below {bound}.": (
        "La última operación fue a {price}: en o por debajo de {bound}."
    ),
    "The fair price is {price}: at or above {bound}.": "El precio justo es {price}: en o por encima de {bound}.",
    "The fair price is {price}: at or below {bound}.": "El precio justo es {price}: en o por debajo de {bound}.",
    "A change of your account": "Un cambio en tu cuenta",
    "Was it not you? Reset your password and end all sessions.": (
        "¿No fuiste tú? Restablece tu contraseña y termina todas las sesiones."
    ),
    "A session was ended, because one of its tokens was used twice.": (
        "Se terminó una sesión, porque uno de sus tokens se usó dos veces."
    ),
    "Your password was changed. All other sessions have ended.": (
        "Tu contraseña se cambió. Todas las demás sesiones han terminado."
    ),
    "Your password was reset. All sessions have ended.": (
        "Tu contraseña se restableció. Todas las sesiones han terminado."
    ),
    "Two-factor authentication was enabled.": "Se activó la autenticación de dos factores.",
    "Two-factor authentication was disabled.": "Se desactivó la autenticación de dos factores.",
    "A recovery code was used in place of your authenticator app.": (
        "Se usó un código de recuperación en lugar de tu aplicación de autenticación."
    ),
    "Your recovery codes were replaced.": "Tus códigos de recuperación se reemplazaron.",
    "Your anti-phishing code was changed. Every mail shows the new one.": (
        "Tu código antiphishing se cambió. Cada correo muestra el nuevo."
    ),
    "An API key was made.": "Se creó una clave API.",
    "An API key got a new secret.": "Una clave API recibió un nuevo secreto.",
    "An API key was revoked.": "Se revocó una clave API.",
    "A withdrawal address was saved, for {asset} on {network}: {address}": (
        "Se guardó una dirección de retiro, para {asset} en {network}: {address}"
    ),
    "A withdrawal address was deleted, for {asset} on {network}: {address}": (
        "Se eliminó una dirección de retiro, para {asset} en {network}: {address}"
    ),
    "Tag of the address: {tag}": "Etiqueta de la dirección: {tag}",
    "Withdrawals can go there from {time} on. If you do not know it, delete it on the page of withdrawals.": (
        "Los retiros pueden ir allí a partir de {time}. Si no la conoces, elimínala en la página de retiros."
    ),
    "Your account is an administrator's from your next login on.": (
        "Tu cuenta es de administrador desde tu próximo inicio de sesión."
    ),
    "Your account is no administrator's any more. All sessions have ended.": (
        "Tu cuenta ya no es de administrador. Todas las sesiones han terminado."
    ),
    "New login to your account": "Nuevo inicio de sesión en tu cuenta",
    "Somebody logged in from {address}, with {program}.": "Alguien inició sesión desde {address}, con {program}.",
    "Somebody logged in from {address}.": "Alguien inició sesión desde {address}.",
    "The platform has locked your login. All sessions have ended, and API keys rest.": (
        "La plataforma ha bloqueado tu inicio de sesión. Todas las sesiones han terminado y las claves API quedan "
        "en pausa."
    ),
    "You can log in again.": "Puedes volver a iniciar sesión.",
    "The platform has locked your withdrawals. Those under way wait.": (
        "La plataforma ha bloqueado tus retiros. Los que están en curso esperan."
    ),
    "Verification closed": "Verificación cerrada",
    (
        "Your verification was closed, because nothing has happened in it for a long time. Its documents were deleted. "
        "You can start it again."
    ): (
        "Tu verificación se ha cerrado porque hace mucho que no ocurre nada en ella. Sus documentos se han eliminado. "
        "Puedes volver a iniciarla."
    ),
    "Verification approved": "Verificación aprobada",
    (
        "Your verification was approved. The page of verification shows your level, and what you can withdraw in a day."
    ): (
        "Tu verificación se ha aprobado. La página de verificación muestra tu nivel y lo que puedes retirar en un día."
    ),
    "Verification needs more from you": "La verificación necesita más de ti",
    (
        "Your verification was not approved as it is. Start it again on the page of verification, with what is "
        "missing or not readable."
    ): (
        "Tu verificación no se ha aprobado tal como está. Vuelve a iniciarla en la página de verificación, con lo que"
        " falta o no se puede leer."
    ),
    "Verification rejected": "Verificación rechazada",
    (
        "Your verification was rejected for good, so it cannot be started again. If you think that this is wrong, ask"
        " support."
    ): (
        "Tu verificación se ha rechazado definitivamente, así que no se puede volver a iniciar. Si crees que es un "
        "error, pregunta a soporte."
    ),
    "Your level of verification is lower than before, and so is what you can withdraw in a day.": (
        "Tu nivel de verificación es más bajo que antes, y también lo que puedes retirar en un día."
    ),
    "You can withdraw again.": "Puedes volver a retirar.",
    ("The platform has removed your second factor, as support was asked to. All sessions have ended."): (
        "La plataforma ha eliminado tu segundo factor, como se pidió al soporte. Todas las sesiones han terminado."
    ),
    "The platform has revoked API keys of yours. Programs that use them have stopped.": (
        "La plataforma ha revocado claves API tuyas. Los programas que las usan se han detenido."
    ),
    "Your API keys were revoked, because they were made before anybody had proved to own this email address.": (
        "Tus claves API se revocaron, porque se crearon antes de que alguien demostrara que esta dirección de "
        "correo es suya."
    ),
    (
        "Your saved withdrawal addresses were deleted, because they were saved before anybody had proved to "
        "own this email address."
    ): (
        "Tus direcciones de retiro guardadas se eliminaron, porque se guardaron antes de que alguien "
        "demostrara que esta dirección de correo es suya."
    ),
    (
        "Two-factor authentication was removed, because it was enabled before anybody had proved to own this "
        "email address. Enable it again."
    ): (
        "La autenticación de dos factores se eliminó, porque se activó antes de que alguien demostrara que esta "
        "dirección de correo es suya. Actívala de nuevo."
    ),
    (
        "Your anti-phishing code was removed, because it was chosen before anybody had proved to own this "
        "email address."
    ): (
        "Tu código antiphishing se eliminó, porque se eligió antes de que alguien demostrara que esta "
        "dirección de correo es suya."
    ),
    "The platform has ended sessions of yours. Log in again.": (
        "La plataforma ha cerrado sesiones tuyas. Inicia sesión de nuevo."
    ),
    "Balance adjusted": "Saldo ajustado",
    "{amount} were added to your balance by the platform. Ask its support why.": (
        "La plataforma añadió {amount} a tu saldo. Pregunta el motivo al soporte."
    ),
    "{amount} were taken from your balance by the platform. Ask its support why.": (
        "La plataforma retiró {amount} de tu saldo. Pregunta el motivo al soporte."
    ),
    "Position without its exits: {symbol}": "Posición sin sus salidas: {symbol}",
    (
        "The entry of your order list {list} has filled {quantity} for which its exits could not be placed: your "
        "account does not have the funds that they need. What was left of the entry is cancelled. Look whether "
        "this position needs other orders."
    ): (
        "La entrada de tu lista de órdenes {list} ejecutó {quantity} para los que no se pudieron colocar sus "
        "salidas: tu cuenta no tiene los fondos que necesitan. Lo que quedaba de la entrada está cancelado. "
        "Comprueba si esta posición necesita otras órdenes."
    ),
    (
        "The entry of your order list {list} has filled {quantity} for which its exits could not be placed: your "
        "account is not active. What was left of the entry is cancelled. Look whether this position needs other "
        "orders."
    ): (
        "La entrada de tu lista de órdenes {list} ejecutó {quantity} para los que no se pudieron colocar sus "
        "salidas: tu cuenta no está activa. Lo que quedaba de la entrada está cancelado. Comprueba si esta "
        "posición necesita otras órdenes."
    ),
    (
        "The entry of your order list {list} has filled {quantity} for which its exits could not be placed: "
        "{reason}. What was left of the entry is cancelled. Look whether this position needs other orders."
    ): (
        "La entrada de tu lista de órdenes {list} ejecutó {quantity} para los que no se pudieron colocar sus "
        "salidas: {reason}. Lo que quedaba de la entrada está cancelado. Comprueba si esta posición necesita otras"
        " órdenes."
    ),
}
