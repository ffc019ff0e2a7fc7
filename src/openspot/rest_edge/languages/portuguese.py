"""The texts of mails and notifications in Brazilian Portuguese, by their English templates (`catalogue.py`)."""

PORTUGUESE: dict[str, str] = {
    "Confirm your email address": "Confirme seu endereço de e-mail",
    "Confirm that this is your email address. It works once, within 24 hours.": (
        "Confirme que este é o seu endereço de e-mail. Vale uma vez, em até 24 horas."
    ),
    (
        "Did you not register here? Then do not confirm it: somebody else knows the password. If you want the "
        "account, reset the password, which removes what they left in it."
    ): (
        "Você não se cadastrou aqui? Então não confirme: outra pessoa conhece a senha. Se quiser a conta, "
        "redefina a senha, o que remove o que deixaram nela."
    ),
    "You have an account already": "Você já tem uma conta",
    (
        "Somebody, perhaps you, tried to register with this email address, which has an account already. Log in with "
        "it, or reset the password if you do not know it any more."
    ): (
        "Alguém, talvez você, tentou se cadastrar com este e-mail, que já tem uma conta. Entre com ele, ou redefina "
        "a senha se não se lembrar mais dela."
    ),
    "Reset your password": "Redefina sua senha",
    "Choose a new password. This works once, within 30 minutes. Did you not ask for it? Do nothing.": (
        "Escolha uma nova senha. Isso vale uma vez, em até 30 minutos. Não foi você que pediu? Não faça nada."
    ),
    "Too many failed logins: choose a new password": "Logins demais falharam: escolha uma nova senha",
    (
        "100 logins in a row have failed. Until you choose a new password, logins from there are refused. Networks "
        "that you have logged in from count on their own. This works once, within 30 minutes; you can ask for "
        "another mail."
    ): (
        "100 logins seguidos falharam. Até você escolher uma nova senha, logins dali são recusados. As redes de onde "
        "você já entrou contam à parte. Isso vale uma vez, em até 30 minutos; você pode pedir outro e-mail."
    ),
    "Your account is deleted": "Sua conta foi excluída",
    "Your account and your personal data are deleted. Records of trades and payments stay, without your name.": (
        "Sua conta e seus dados pessoais foram excluídos. Os registros de negócios e pagamentos ficam, sem o seu nome."
    ),
    "Your anti-phishing code: {code}": "Seu código antiphishing: {code}",
    "Token: {token}": "Token: {token}",
    "Deposit credited": "Depósito creditado",
    "{amount} arrived and can be used.": "{amount} chegaram e podem ser usados.",
    "Withdrawal requested": "Saque solicitado",
    (
        "A withdrawal of {amount} to {address} was requested. Was it not you? Cancel it on the page of withdrawals, "
        "reset your password and end all sessions."
    ): (
        "Um saque de {amount} para {address} foi solicitado. Não foi você? Cancele-o na página de saques, redefina "
        "sua senha e encerre todas as sessões."
    ),
    (
        "A withdrawal of {amount} was requested. Was it not you? Cancel it on the page of withdrawals, reset your "
        "password and end all sessions."
    ): (
        "Um saque de {amount} foi solicitado. Não foi você? Cancele-o na página de saques, redefina sua senha e "
        "encerre todas as sessões."
    ),
    "Withdrawal completed": "Saque concluído",
    "Your withdrawal of {amount} has left for its address. Transaction: {transaction}": (
        "Seu saque de {amount} saiu para o endereço. Transação: {transaction}"
    ),
    "Your withdrawal of {amount} has left for its address.": "Seu saque de {amount} saiu para o endereço.",
    "Withdrawal not carried out": "Saque não realizado",
    (
        "Your withdrawal of {amount} was not carried out. Its funds are in your account. The page of withdrawals "
        "says why."
    ): ("Seu saque de {amount} não foi realizado. Os fundos estão na sua conta. A página de saques diz por quê."),
    "Withdrawal cancelled": "Saque cancelado",
    "Your withdrawal of {amount} was cancelled at your request. Its funds are in your account.": (
        "Seu saque de {amount} foi cancelado a seu pedido. Os fundos estão na sua conta."
    ),
    "Conversion completed": "Conversão concluída",
    "{paid} became {amount}.": "{paid} viraram {amount}.",
    "Payment completed": "Pagamento concluído",
    "Stake returned": "Stake devolvido",
    "Your stake of {amount} is in your account again.": "Seu stake de {amount} está de volta na sua conta.",
    "Staking reward paid": "Recompensa de staking paga",
    "Staking earned you {amount}.": "O staking rendeu {amount} para você.",
    "Plan refunded": "Plano reembolsado",
    "The rest of your plan's credit, {amount}, is yours again.": (
        "O restante do crédito do seu plano, {amount}, é seu de novo."
    ),
    "Plan charged": "Plano cobrado",
    "{amount} were taken from your spot account for your plan.": (
        "{amount} saíram da sua conta à vista pelo seu plano."
    ),
    "Your plan could not be charged": "Seu plano não pôde ser cobrado",
    "Your spot account does not have {amount} that no order uses: add funds and try again.": (
        "Sua conta à vista não tem {amount} que nenhuma ordem use: adicione fundos e tente de novo."
    ),
    "The engine refused the charge of {amount}: {reason}.": "A cobrança de {amount} foi recusada: {reason}.",
    "Plan {plan} does not exist any more.": "O plano {plan} não existe mais.",
    "Asset {asset} does not pay for plan {plan}, only {assets}.": "{asset} não paga o plano {plan}, apenas {assets}.",
    "Your plan {plan} has ended.": "Seu plano {plan} terminou.",
    "Your plan {plan} goes on for now. The charge is tried again on {day}.": (
        "Seu plano {plan} continua por enquanto. A cobrança é tentada de novo em {day}."
    ),
    "Order filled: {symbol}": "Ordem executada: {symbol}",
    "Order filled in part: {symbol}": "Ordem executada em parte: {symbol}",
    "Order ended without a trade: {symbol}": "Ordem encerrada sem negócio: {symbol}",
    "You bought {amount} of {quantity} at {price}, and the order has ended.": (
        "Você comprou {amount} de {quantity} a {price}, e a ordem terminou."
    ),
    "You sold {amount} of {quantity} at {price}, and the order has ended.": (
        "Você vendeu {amount} de {quantity} a {price}, e a ordem terminou."
    ),
    "The trigger of your order to buy {quantity} fired, and the order ended without a trade.": (
        "O gatilho da sua ordem de compra de {quantity} disparou, e a ordem terminou sem negócio."
    ),
    "The trigger of your order to sell {quantity} fired, and the order ended without a trade.": (
        "O gatilho da sua ordem de venda de {quantity} disparou, e a ordem terminou sem negócio."
    ),
    "The rest was cancelled at your request.": "O resto foi cancelado a seu pedido.",
    "The platform cancelled it.": "A plataforma a cancelou.",
    "Its time was over.": "O prazo dela terminou.",
    "The order book offered too little within its limits.": (
        "O livro de ordens oferecia muito pouco dentro dos limites dela."
    ),
    "The order book could not fill it as a whole.": "O livro de ordens não pôde executá-la por inteiro.",
    "It would have traded with another order of yours.": "Ela teria negociado com outra ordem sua.",
    "Another order of its list traded in its place.": "Outra ordem da lista negociou no lugar dela.",
    "The list that it belongs to has ended.": "A lista a que ela pertence terminou.",
    "Your account is not active.": "Sua conta não está ativa.",
    "Its price or its amount had left the range of the market.": "O preço ou o valor dela saiu da faixa do mercado.",
    "The engine's reason is {reason}.": "O motivo do motor é {reason}.",
    "You bought {amount} at {price}.": "Você comprou {amount} a {price}.",
    "You sold {amount} at {price}.": "Você vendeu {amount} a {price}.",
    "You bought {amount}.": "Você comprou {amount}.",
    "You sold {amount}.": "Você vendeu {amount}.",
    "Order refused: {symbol}": "Ordem recusada: {symbol}",
    "Order {order} was not placed: {reason}.": "A ordem {order} não foi enviada: {reason}.",
    "Your orders were cancelled by your timer": "Seu timer cancelou suas ordens",
    (
        "Your timer to cancel all orders ran out at {time} without a renewal, and your open orders were cancelled. "
        "If a program should have renewed it, look whether it is running."
    ): (
        "Seu timer para cancelar todas as ordens venceu em {time} sem renovação, e suas ordens abertas foram "
        "canceladas. Se um programa deveria renová-lo, veja se ele está rodando."
    ),
    "Your margin account is at risk": "Sua conta de margem está em risco",
    (
        "The level of margin account {account} fell to {level}. Add collateral or repay a loan: if it falls further, "
        "the account is liquidated."
    ): (
        "O nível da conta de margem {account} caiu para {level}. Aporte garantia ou pague um empréstimo: se cair "
        "mais, a conta é liquidada."
    ),
    "Your margin account is being liquidated": "Sua conta de margem está sendo liquidada",
    (
        "The level of margin account {account} fell to the liquidation level ({level}). Its positions are closed "
        "step by step near the fair price and its loans are repaid from the proceeds."
    ): (
        "O nível da conta de margem {account} caiu ao nível de liquidação ({level}). As posições são fechadas passo "
        "a passo perto do preço justo e os empréstimos são pagos com o resultado."
    ),
    (
        "The level of margin account {account} fell to the liquidation level. Its positions are closed step by step "
        "near the fair price and its loans are repaid from the proceeds."
    ): (
        "O nível da conta de margem {account} caiu ao nível de liquidação. As posições são fechadas passo a passo "
        "perto do preço justo e os empréstimos são pagos com o resultado."
    ),
    "Margin position closed: {symbol}": "Posição de margem fechada: {symbol}",
    "A liquidation closes your long position of {quantity} ({position}).": (
        "Uma liquidação fecha sua posição comprada de {quantity} ({position})."
    ),
    "A liquidation closes your short position of {quantity} ({position}).": (
        "Uma liquidação fecha sua posição vendida de {quantity} ({position})."
    ),
    "Test of notifications": "Teste de notificações",
    "This device shows what you asked to be told.": "Este dispositivo mostra o que você pediu para ser avisado.",
    "Price alert: {symbol}": "Alerta de preço: {symbol}",
    "The last trade was at {price}: at or above {bound}. Your note: {note}": (
        "O último negócio foi a {price}: em ou acima de {bound}. Sua nota: {note}"
    ),
    "The last trade was at {price}: at or below {bound}. Your note: {note}": (
        "O último negócio foi a {price}: em ou abaixo de {bound}. Sua nota: {note}"
    ),
    "The fair price is {price}: at or above {bound}. Your note: {note}": (
        "O preço justo é {price}: em ou acima de {bound}. Sua nota: {note}"
    ),
    "The fair price is {price}: at or below {bound}. Your note: {note}": (
        "O preço justo é {price}: em ou abaixo de {bound}. Sua nota: {note}"
    ),
    "The last trade was at {price}: at or above {bound}.": "O último negócio foi a {price}: em ou acima de {bound}.",
    "The last trade was at {price}: at or below {bound}.": "O último negócio foi a {price}: em ou abaixo de {bound}.",
    "The fair price is {price}: at or above {bound}.": "O preço justo é {price}: em ou acima de {bound}.",
    "The fair price is {price}: at or below {bound}.": "O preço justo é {price}: em ou abaixo de {bound}.",
    "A change of your account": "Uma mudança na sua conta",
    "Was it not you? Reset your password and end all sessions.": (
        "Não foi você? Redefina sua senha e encerre todas as sessões."
    ),
    "A session was ended, because one of its tokens was used twice.": (
        "Uma sessão foi encerrada, porque um dos tokens dela foi usado duas vezes."
    ),
    "Your password was changed. All other sessions have ended.": (
        "Sua senha foi alterada. Todas as outras sessões terminaram."
    ),
    "Your password was reset. All sessions have ended.": "Sua senha foi redefinida. Todas as sessões terminaram.",
    "Two-factor authentication was enabled.": "A autenticação de dois fatores foi ativada.",
    "Two-factor authentication was disabled.": "A autenticação de dois fatores foi desativada.",
    "A recovery code was used in place of your authenticator app.": (
        "Um código de recuperação foi usado no lugar do seu aplicativo autenticador."
    ),
    "Your recovery codes were replaced.": "Seus códigos de recuperação foram substituídos.",
    "Your anti-phishing code was changed. Every mail shows the new one.": (
        "Seu código antiphishing foi alterado. Todo e-mail mostra o novo."
    ),
    "An API key was made.": "Uma chave de API foi criada.",
    "An API key got a new secret.": "Uma chave de API recebeu um novo segredo.",
    "An API key was revoked.": "Uma chave de API foi revogada.",
    "A withdrawal address was saved, for {asset} on {network}: {address}": (
        "Um endereço de saque foi salvo, para {asset} em {network}: {address}"
    ),
    "A withdrawal address was deleted, for {asset} on {network}: {address}": (
        "Um endereço de saque foi excluído, para {asset} em {network}: {address}"
    ),
    "Tag of the address: {tag}": "Tag do endereço: {tag}",
    "Withdrawals can go there from {time} on. If you do not know it, delete it on the page of withdrawals.": (
        "Os saques podem ir para lá a partir de {time}. Se você não o conhece, exclua-o na página de saques."
    ),
    "Your account is an administrator's from your next login on.": (
        "Sua conta é de administrador a partir do próximo login."
    ),
    "Your account is no administrator's any more. All sessions have ended.": (
        "Sua conta não é mais de administrador. Todas as sessões terminaram."
    ),
    "New login to your account": "Novo login na sua conta",
    "Somebody logged in from {address}, with {program}.": "Alguém entrou de {address}, com {program}.",
    "Somebody logged in from {address}.": "Alguém entrou de {address}.",
    "The platform has locked your login. All sessions have ended, and API keys rest.": (
        "A plataforma bloqueou seu login. Todas as sessões terminaram e as chaves de API ficam suspensas."
    ),
    "You can log in again.": "Você pode entrar novamente.",
    "The platform has locked your withdrawals. Those under way wait.": (
        "A plataforma bloqueou seus saques. Os que estão em andamento aguardam."
    ),
    "Verification closed": "Verificação encerrada",
    (
        "Your verification was closed, because nothing has happened in it for a long time. Its documents were deleted. "
        "You can start it again."
    ): (
        "Sua verificação foi encerrada, porque nada aconteceu nela por muito tempo. Os documentos dela "
        "foram excluídos. Você pode iniciá-la novamente."
    ),
    "Verification approved": "Verificação aprovada",
    (
        "Your verification was approved. The page of verification shows your level, and what you can withdraw in a day."
    ): ("Sua verificação foi aprovada. A página de verificação mostra seu nível e quanto você pode sacar em um dia."),
    "Verification needs more from you": "A verificação precisa de mais de você",
    (
        "Your verification was not approved as it is. Start it again on the page of verification, with what is "
        "missing or not readable."
    ): (
        "Sua verificação não foi aprovada como está. Inicie-a novamente na página de verificação, com o que falta ou "
        "não está legível."
    ),
    "Verification rejected": "Verificação rejeitada",
    (
        "Your verification was rejected for good, so it cannot be started again. If you think that this is wrong, ask"
        " support."
    ): (
        "Sua verificação foi rejeitada em definitivo e não pode ser iniciada novamente. Se você acha que isso está "
        "errado, pergunte ao suporte."
    ),
    "Your level of verification is lower than before, and so is what you can withdraw in a day.": (
        "Seu nível de verificação está mais baixo do que antes, e também quanto você pode sacar em um dia."
    ),
    "You can withdraw again.": "Você pode sacar novamente.",
    ("The platform has removed your second factor, as support was asked to. All sessions have ended."): (
        "A plataforma removeu seu segundo fator, como foi pedido ao suporte. Todas as sessões terminaram."
    ),
    "The platform has revoked API keys of yours. Programs that use them have stopped.": (
        "A plataforma revogou chaves de API suas. Os programas que as usam pararam."
    ),
    "Your API keys were revoked, because they were made before anybody had proved to own this email address.": (
        "Suas chaves de API foram revogadas, porque foram criadas antes que alguém provasse que este e-mail é seu."
    ),
    (
        "Your saved withdrawal addresses were deleted, because they were saved before anybody had proved to "
        "own this email address."
    ): (
        "Seus endereços de saque salvos foram excluídos, porque foram salvos antes que alguém provasse que "
        "este e-mail é seu."
    ),
    (
        "Two-factor authentication was removed, because it was enabled before anybody had proved to own this "
        "email address. Enable it again."
    ): (
        "A autenticação de dois fatores foi removida, porque foi ativada antes que alguém provasse que este "
        "e-mail é seu. Ative-a novamente."
    ),
    (
        "Your anti-phishing code was removed, because it was chosen before anybody had proved to own this "
        "email address."
    ): ("Seu código antiphishing foi removido, porque foi escolhido antes que alguém provasse que este e-mail é seu."),
    "The platform has ended sessions of yours. Log in again.": "A plataforma encerrou sessões suas. Entre novamente.",
    "Balance adjusted": "Saldo ajustado",
    "{amount} were added to your balance by the platform. Ask its support why.": (
        "A plataforma adicionou {amount} ao seu saldo. Pergunte o motivo ao suporte."
    ),
    "{amount} were taken from your balance by the platform. Ask its support why.": (
        "A plataforma retirou {amount} do seu saldo. Pergunte o motivo ao suporte."
    ),
    "Position without its exits: {symbol}": "Posição sem suas saídas: {symbol}",
    (
        "The entry of your order list {list} has filled {quantity} for which its exits could not be placed: your "
        "account does not have the funds that they need. What was left of the entry is cancelled. Look whether "
        "this position needs other orders."
    ): (
        "A entrada da sua lista de ordens {list} executou {quantity} para os quais não foi possível colocar as "
        "saídas: sua conta não tem os fundos de que elas precisam. O que restava da entrada foi cancelado. "
        "Verifique se esta posição precisa de outras ordens."
    ),
    (
        "The entry of your order list {list} has filled {quantity} for which its exits could not be placed: your "
        "account is not active. What was left of the entry is cancelled. Look whether this position needs other "
        "orders."
    ): (
        "A entrada da sua lista de ordens {list} executou {quantity} para os quais não foi possível colocar as "
        "saídas: sua conta não está ativa. O que restava da entrada foi cancelado. Verifique se esta posição "
        "precisa de outras ordens."
    ),
    (
        "The entry of your order list {list} has filled {quantity} for which its exits could not be placed: "
        "{reason}. What was left of the entry is cancelled. Look whether this position needs other orders."
    ): (
        "A entrada da sua lista de ordens {list} executou {quantity} para os quais não foi possível colocar as "
        "saídas: {reason}. O que restava da entrada foi cancelado. Verifique se esta posição precisa de outras "
        "ordens."
    ),
}
