;;; yamlhost.el --- Pulumi YAML programs with the language server of yamlhost  -*- lexical-binding: t; -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1") (eglot "1.9"))
;; Keywords: languages, tools

;;; Commentary:

;; A major mode for Pulumi.yaml, Main.yaml, PulumiPlugin.yaml and Pulumi.<stack>.yaml, with the server `yamlhost lsp` by eglot:
;;
;;   (require 'yamlhost)
;;   (add-hook 'yamlhost-mode-hook #'eglot-ensure)

;;; Code:

(require 'eglot)

(defgroup yamlhost nil "Pulumi YAML programs." :group 'languages)

(defcustom yamlhost-command '("yamlhost" "lsp")
  "The language server and its arguments."
  :type '(repeat string))

(defcustom yamlhost-trusted nil
  "Non-nil allows `yamlhost-plan' to run plugins and commands of the project."
  :type 'boolean
  :risky t)

(defvar yamlhost-font-lock-keywords
  '(("\\(fn::\\)\\([A-Za-z0-9:/_-]+\\)" (1 font-lock-keyword-face) (2 font-lock-function-name-face))
    ("\\(\\${\\)\\([^}\n]*\\)\\(}\\)" (1 font-lock-preprocessor-face t) (2 font-lock-variable-name-face t)
     (3 font-lock-preprocessor-face t))
    ("^\\( *\\(?:- \\)?\\)\\([A-Za-z_][A-Za-z0-9_.-]*\\)\\(:\\)\\(?: \\|$\\)" (2 font-lock-keyword-face))
    ("\\(?:^\\| \\)\\(#.*\\)$" (1 font-lock-comment-face t)))
  "What `yamlhost-mode' highlights.")

;;;###autoload
(define-derived-mode yamlhost-mode prog-mode "Pulumi"
  "Major mode for Pulumi YAML programs."
  (setq-local comment-start "# " comment-start-skip "#+ *" indent-tabs-mode nil tab-width 2
              font-lock-defaults '(yamlhost-font-lock-keywords t)))

;;;###autoload
(add-to-list 'auto-mode-alist
             '("/\\(?:Pulumi\\(?:\\.[^/]+\\)?\\|Main\\|PulumiPlugin\\)\\.ya?ml\\'" . yamlhost-mode))

(defclass yamlhost-server (eglot-lsp-server) () "The server yamlhost.")

(cl-defmethod eglot-initialization-options ((_server yamlhost-server))
  "Tell the server whether the workspace is trusted."
  (list :trusted (if yamlhost-trusted t :json-false)))

(add-to-list 'eglot-server-programs
             '(yamlhost-mode . (lambda (&rest _) (cons 'yamlhost-server yamlhost-command))))

(defun yamlhost--ask (command)
  "Have the server carry out COMMAND for this file."
  (jsonrpc-request (eglot--current-server-or-lose) :workspace/executeCommand
                   (list :command command :arguments (vector (eglot--path-to-uri buffer-file-name)))
                   :timeout 600))

(defun yamlhost-plan ()
  "Show a preview of the stack that is selected."
  (interactive)
  (let ((text (yamlhost--ask "yamlhost.plan")))
    (with-current-buffer (get-buffer-create "*yamlhost plan*")
      (let ((inhibit-read-only t)) (erase-buffer) (insert text))
      (goto-char (point-min))
      (diff-mode)
      (setq buffer-read-only t)
      (display-buffer (current-buffer))
      (current-buffer))))

(defun yamlhost-graph (file)
  "Write a picture of the program to FILE and show it."
  (interactive (list (make-temp-file "graph" nil ".svg")))
  (let ((text (yamlhost--ask "yamlhost.graph")))
    (with-temp-file file (insert text))
    (when (display-graphic-p) (find-file-other-window file))
    file))

(provide 'yamlhost)
;;; yamlhost.el ends here
